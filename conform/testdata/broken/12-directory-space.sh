# run-shell takes the directory up to its first space.
# turns: tmux api
# needs: 3.5
case $* in
*'run-shell '*'-c '*' '*)
	previous=
	for arg; do
		shift
		case $previous in -c) arg=${arg%% *} ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

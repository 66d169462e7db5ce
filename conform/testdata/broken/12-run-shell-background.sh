# run-shell -b ignores the directory.
# turns: tmux
# needs: 3.4
case " $* " in
*' run-shell -b '*' -c '*)
	previous=
	for arg; do
		shift
		case $previous in -c) arg=/tmp ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

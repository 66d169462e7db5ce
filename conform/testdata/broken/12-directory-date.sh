# run-shell expands dates in its directory.
# turns: tmux
# needs: 3.4
case $* in
*'run-shell '*'-c '*%d*)
	previous=
	for arg; do
		shift
		case $previous$arg in -c*%d) arg=$(date +"$arg") ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

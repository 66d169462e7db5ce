# Of two counts the first one counts.
# turns: tmux
case " $* " in
*' -N 9 -N 2 '*)
	for arg; do
		shift
		case $arg in 2) arg=9 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

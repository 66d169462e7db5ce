# capture-pane -P puts the screen into a buffer.
# turns: tmux
case " $* " in
*' capture-pane -P -b '*)
	for arg; do
		shift
		[ "$arg" = -P ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# resize-pane -U takes no count.
# turns: tmux
case " $* " in
*' resize-pane -U '*' 4 '*)
	for arg; do
		shift
		[ "$arg" = 4 ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

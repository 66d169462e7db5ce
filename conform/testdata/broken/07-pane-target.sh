# list-panes -t with a pane lists all panes.
# turns: tmux
case " $* " in
*' list-panes -t %'*)
	for arg; do
		shift
		set -- "$@" "$arg"
		[ "$arg" != list-panes ] || set -- "$@" -a
	done ;;
esac
exec "$real" "$@"

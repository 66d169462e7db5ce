# Without a filter, list-panes leaves out the panes that a zoomed one hides.
# turns: mcp
case " $* " in
*' -f #{'*) ;;
*' list-panes -a -F '*)
	for arg; do
		shift
		set -- "$@" "$arg"
		[ "$arg" != -a ] || set -- "$@" -f '#{||:#{pane_active},#{!=:#{window_zoomed_flag},1}}'
	done ;;
esac
exec "$real" "$@"

# resize-pane -Z says that a window is zoomed, and leaves its panes at their sizes.
# turns: tmux mcp
case " $* " in
*'#{==:#{pane_height},#{window_height}}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{==:#{pane_height},#{window_height}}/#{?window_zoomed_flag,0,&}/')"
	done ;;
esac
exec "$real" "$@"

# pane_zoomed_flag is that of the window's first session.
# turns: tmux
# needs: 3.7
case $* in
*pane_zoomed_flag}*)
	for arg; do
		shift
		case $arg in *pane_zoomed_flag}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_zoomed_flag}/#{?#{==:#{window_index},5},0,#{pane_zoomed_flag}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

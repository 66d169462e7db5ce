# The progress bar is hidden, normal or paused.
# turns: tmux
# needs: 3.7
case $* in
*pane_pb_state*)
	for arg; do
		shift
		case $arg in *pane_pb_state*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pb_state}/#{?#{==:#{pane_pb_state},error},normal,#{pane_pb_state}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

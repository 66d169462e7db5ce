# The progress ends at 42.
# turns: tmux
# needs: 3.7
case $* in
*pane_pb_progress*)
	for arg; do
		shift
		case $arg in *pane_pb_progress*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pb_progress}/#{?#{e|>:#{pane_pb_progress},42},42,#{pane_pb_progress}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

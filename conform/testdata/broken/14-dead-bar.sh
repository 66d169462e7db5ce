# The progress bar of a program that has ended is hidden.
# turns: tmux
# needs: 3.7
case $* in
*pane_pb_state}*)
	for arg; do
		shift
		case $arg in *pane_pb_state}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pb_state}/#{?pane_dead,hidden,#{pane_pb_state}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A pane in copy mode has no progress bar.
# turns: tmux
# needs: 3.7
case $* in
*pane_pb_state}*)
	for arg; do
		shift
		case $arg in *pane_pb_state}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pb_state}/#{?pane_in_mode,hidden,#{pane_pb_state}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

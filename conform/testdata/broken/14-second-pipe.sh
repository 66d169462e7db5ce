# In a linked window no pane but the active one has a pane_pipe_pid.
# turns: tmux
# needs: 3.7
case $* in
*pane_pipe_pid}*)
	for arg; do
		shift
		case $arg in *pane_pipe_pid}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pipe_pid}/#{?#{\&\&:#{window_linked},#{!:#{pane_active}}},,#{pane_pipe_pid}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# pane_pipe_pid is not the process that reads the pipe.
# turns: tmux api mcp
# needs: 3.7
case $* in
*pane_pipe_pid*)
	for arg; do
		shift
		case $arg in *pane_pipe_pid*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pipe_pid}/#{?pane_pipe,#{pid},}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# The last pane is one that has no pipe either.
# turns: tmux api mcp
case $* in
*pane_pipe}*)
	for arg; do
		shift
		case $arg in *pane_pipe}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_pipe}/#{||:#{pane_pipe},#{pane_last}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

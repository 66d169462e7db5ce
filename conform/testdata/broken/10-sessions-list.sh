# The current window of another session is not counted.
# turns: tmux api mcp
case $* in
*window_active_sessions_list}*)
	for arg; do
		shift
		case $arg in *window_active_sessions_list}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_active_sessions_list}/#{session_name}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

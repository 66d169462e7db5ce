# In a group a second session has a list of its own.
# turns: tmux
case $* in
*window_active_sessions_list}*)
	for arg; do
		shift
		case $arg in *window_active_sessions_list}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_active_sessions_list}/#{?#{\&\&:#{session_grouped},#{!=:#{session_name},#{session_group}}},#{?window_active,#{session_name},},#{window_active_sessions_list}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

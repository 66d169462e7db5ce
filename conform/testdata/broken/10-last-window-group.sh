# In a group window_last_flag is that of the session that the group is named after.
# turns: tmux
case $* in
*window_last_flag}*)
	for arg; do
		shift
		case $arg in *window_last_flag}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_last_flag}/#{?#{\&\&:#{session_grouped},#{!=:#{session_name},#{session_group}}},0,#{window_last_flag}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

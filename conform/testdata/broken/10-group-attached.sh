# A group has many clients as soon as it is one.
# turns: tmux api
case $* in
*session_group_many_attached}*)
	for arg; do
		shift
		case $arg in *session_group_many_attached}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*session_group_many_attached}/#{?session_grouped,1,}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

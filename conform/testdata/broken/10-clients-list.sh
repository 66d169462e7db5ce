# A window that nobody looks at has the clients of its session.
# turns: tmux api
case $* in
*window_active_clients_list}*)
	for arg; do
		shift
		case $arg in *window_active_clients_list}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_active_clients_list}/#{session_attached_list}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

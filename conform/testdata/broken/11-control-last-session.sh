# A control client has no last session.
# turns: tmux
case $* in
*client_last_session}*)
	for arg; do
		shift
		case $arg in *client_last_session}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_last_session}/#{?client_control_mode,,#{client_last_session}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# The last session is the first one.
# turns: tmux
case $* in
*client_last_session}*)
	for arg; do
		shift
		case $arg in *client_last_session}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_last_session}/#{?client_last_session,one,}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# client_activity is the time when the client came.
# turns: tmux api
case $* in
*client_activity}*)
	for arg; do
		shift
		case $arg in *client_activity}*) arg=$(printf %s "$arg" | sed 's/client_activity}/client_created}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A session with one client has many, it says.
# turns: tmux api
case $* in
*session_many_attached}*)
	for arg; do
		shift
		case $arg in *session_many_attached}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*session_many_attached}/#{?session_attached,1,0}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

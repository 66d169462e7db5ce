# session_alert stays after a look.
# turns: tmux
# needs: 3.6
case $* in
*session_alert}*)
	for arg; do
		shift
		case $arg in *session_alert}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*session_alert}/#{?#{==:#{session_name},bell},!,#{session_alert}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A session is in no group, it says.
# turns: tmux api mcp
case $* in
*session_grouped}*)
	for arg; do
		shift
		case $arg in *session_grouped}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*session_grouped}/0/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

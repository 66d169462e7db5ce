# A client did something in the year 2286.
# turns: tmux api mcp
case $* in
*'list-clients '*client_activity}*)
	for arg; do
		shift
		case $arg in *client_activity}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_activity}/9999999999/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

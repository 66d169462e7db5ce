# Each client with a terminal is UTF-8.
# turns: tmux api mcp
case $* in
*client_utf8}*)
	for arg; do
		shift
		case $arg in *client_utf8}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_utf8}/#{?client_control_mode,#{client_utf8},1}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# client_mode_format is empty.
# turns: tmux api mcp
case $* in
*client_mode_format}*)
	for arg; do
		shift
		case $arg in *client_mode_format}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_mode_format}//g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# No window is zoomed while a client is attached.
# turns: 2/tmux tmux api mcp
case $* in
*window_zoomed_flag*)
	if [ -n "$("$real" "$1" "$2" "$3" list-clients 2>/dev/null)" ]; then
		for arg; do
			shift
			case $arg in *window_zoomed_flag*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/0/g') ;; esac
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

# While somebody is attached, display-message is about the window that they look at.
# turns: tmux mcp
case " $* " in
*' display-message -p -t @'* | *' display-message -t @'*)
	if [ -n "$("$real" "$1" "$2" "$3" list-clients 2>/dev/null)" ]; then
		for arg; do
			shift
			case $arg in @*) arg= ;; esac
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

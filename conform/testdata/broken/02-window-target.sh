# display-message takes a window for the current one.
# turns: tmux mcp
case " $* " in
*' display-message -p -t @'* | *' display-message -t @'*)
	for arg; do
		shift
		case $arg in @*) arg= ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# About a window, a format ends at its first newline.
# turns: tmux api mcp
case " $* " in
*' display-message '*' -t @'* | *' list-windows -t @'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | head -n 1)"
	done ;;
esac
exec "$real" "$@"

# About a window, an answer ends after a thousand bytes.
# turns: tmux api mcp
case " $* " in
*' display-message '*' -t @1 '* | *' list-windows -t @1 '*'#{@long}'*)
	"$real" "$@" | cut -b -1000
	exit ;;
esac
exec "$real" "$@"

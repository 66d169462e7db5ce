# list-buffers lists the oldest first.
# turns: tmux api mcp
case " $* " in
*' list-buffers '*)
	"$real" "$@" | awk '/^end-/ { for (; n; n--) print line[n]; print; next } { line[++n] = $0 } END { for (; n; n--) print line[n] }'
	exit ;;
esac
exec "$real" "$@"

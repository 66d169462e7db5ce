# list-buffers lists at most fifty.
# turns: tmux api
case " $* " in
*' list-buffers '*)
	"$real" "$@" | awk 'NR <= 50 || /^end-/'
	exit ;;
esac
exec "$real" "$@"

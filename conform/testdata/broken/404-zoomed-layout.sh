# A control client sees a layout of its own while a pane is zoomed.
# turns: tmux
# before: 3.8
case " $* " in
*' -C attach-session -t work '*)
	"$real" "$@" | sed -u 's/^[0-9a-f]\{4\}\(,.* [0-9a-f]\{4\},\)/0000\1/'
	exit ;;
esac
exec "$real" "$@"

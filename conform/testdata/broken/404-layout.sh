# A control client sees a layout of its own.
# turns: tmux
# before: 3.8
case " $* " in
*' -C attach-session -t work '*)
	"$real" "$@" | sed -u 's/^[0-9a-f]\{4\},80x2/0000,80x2/'
	exit 1 ;;
esac
exec "$real" "$@"

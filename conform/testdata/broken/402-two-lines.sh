# Two lines that run-shell prints are inside a block.
# turns: tmux
case " $* " in
*' -C attach-session -t work '*)
	"$real" "$@" | sed -u 's/^next$/über\
zwei/'
	exit ;;
esac
exec "$real" "$@"

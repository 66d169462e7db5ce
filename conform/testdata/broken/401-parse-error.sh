# A line that cannot be parsed has an empty block.
# turns: tmux
case " $* " in
*' -C attach-session -t work '*)
	"$real" "$@" | sed -u '/^parse error/d'
	exit 1 ;;
esac
exec "$real" "$@"

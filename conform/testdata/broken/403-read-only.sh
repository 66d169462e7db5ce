# A read-only control client is refused more.
# turns: tmux
# before: 3.7
case " $* " in
*' -C attach-session -r -t work '*)
	"$real" "$@" | sed -u 's/^%begin.* 1$/client is read-only\n%error/'
	exit 1 ;;
esac
exec "$real" "$@"

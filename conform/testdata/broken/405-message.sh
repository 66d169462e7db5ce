# A message is not where it was.
# turns: 401/tmux tmux
case " $* " in
*' -C attach-session -t work '*)
	"$real" "$@" | sed -u 's/^%message hello$//; s/^%end.* 1$/&\n%message bye/'
	exit 1 ;;
esac
exec "$real" "$@"

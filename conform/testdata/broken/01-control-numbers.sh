# In control mode, the end of an answer has another number than its beginning.
# turns: tmux
case " $* " in
*' -C attach-session -t two '*)
	"$real" "$@" | sed -u 's/^\(%end [0-9]*\) [0-9]*/\1 0/'
	exit ;;
esac
exec "$real" "$@"

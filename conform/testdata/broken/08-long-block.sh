# An error has at most 4096 bytes.
# turns: tmux
case " $* " in
*' -C '* | *' source-file '*) ;;
*' kill-session '*)
	err=$(mktemp)
	"$real" "$@" 2>"$err"
	code=$?
	head -c 4096 "$err" >&2
	rm "$err"
	exit $code ;;
esac
exec "$real" "$@"

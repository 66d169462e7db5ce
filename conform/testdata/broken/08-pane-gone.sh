# A pane that is gone is called a window.
# turns: tmux api
case " $* " in
*' %9 '*)
	err=$(mktemp)
	"$real" "$@" 2>"$err"
	code=$?
	sed "s/find pane/find window/" "$err" >&2
	rm "$err"
	exit $code ;;
esac
exec "$real" "$@"

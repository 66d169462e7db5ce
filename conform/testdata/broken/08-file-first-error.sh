# Of a file of commands only the first error is reported.
# turns: tmux
case " $* " in
*' source-file /'*)
	err=$(mktemp)
	"$real" "$@" 2>"$err"
	code=$?
	head -n 1 "$err" >&2
	rm "$err"
	exit $code ;;
esac
exec "$real" "$@"

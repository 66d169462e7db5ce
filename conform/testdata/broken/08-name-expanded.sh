# A name that is not found is expanded as a format in the error.
# turns: tmux
case " $* " in
*' ; '*) ;;
*' kill-session -t '*'#{'*)
	err=$("$real" "$@" 2>&1) && exit
	code=$?
	"$real" -S "$3" display-message -p "$err" >&2
	exit $code ;;
esac
exec "$real" "$@"

# A list goes on after a command that fails.
# turns: tmux
case " $* " in
*' source-file '*) ;;
*' kill-pane '*' ; '*)
	"$real" "$@"
	code=$?
	[ $code = 0 ] || "$real" "$1" "$2" "$3" "$4" "$5" display-message -p behind
	exit $code ;;
esac
exec "$real" "$@"

# kill-pane complains, and succeeds.
# turns: tmux api
case " $* " in
*' kill-pane '*)
	"$real" "$@"
	exit 0 ;;
esac
exec "$real" "$@"

# A message of several words is not where it was.
# turns: tmux
# needs: 3.4
case " $* " in
*' -C attach-session -t work '*)
	"$real" "$@" | sed -u '/^%message zwei/d'
	exit ;;
esac
exec "$real" "$@"

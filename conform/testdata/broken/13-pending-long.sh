# capture-pane -P gives at most a hundred bytes.
# turns: tmux
case " $* " in
*' capture-pane -P -p '*)
	"$real" "$@" | cut -b -100
	exit ;;
esac
exec "$real" "$@"

# capture-pane -P prints at most 16384 bytes.
# turns: tmux
case " $* " in
*' capture-pane -P -p '*)
	"$real" "$@" | head -c 16384
	exit ;;
esac
exec "$real" "$@"

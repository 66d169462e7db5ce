# A pane of a window of two sessions is listed once.
# turns: tmux
case " $* " in
*' link-window '*' list-panes -a '*)
	"$real" "$@" | awk '/linked/ || !/^[a-z]* %0$/ || !seen[$2]++'
	exit ;;
esac
exec "$real" "$@"

# list-panes -a sends at most ten panes.
# turns: tmux
case "$*" in
*' list-panes -a -F #{pane_id}')
	"$real" "$@" | head -n 10
	exit ;;
esac
exec "$real" "$@"

# Pasting into a dead pane is an error, where it ends the server.
# turns: tmux
# before: 3.4
case "$*" in
*' /dev/null paste-buffer -t %1') # not one in a list
	echo 'target pane has exited' >&2
	exit 1 ;;
esac
exec "$real" "$@"

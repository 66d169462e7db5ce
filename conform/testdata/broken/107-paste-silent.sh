# Pasting into a dead pane does nothing.
# turns: tmux
# needs: 3.4
case "$*" in
*' /dev/null paste-buffer -t %1') # not one in a list
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^paste-buffer$/has-session/')"
	done ;;
esac
exec "$real" "$@"

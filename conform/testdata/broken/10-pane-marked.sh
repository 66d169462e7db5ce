# pane_marked is not known.
# turns: tmux api mcp
case $* in
*pane_marked}*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/pane_marked}/no_such_token}/g')"
	done ;;
esac
exec "$real" "$@"

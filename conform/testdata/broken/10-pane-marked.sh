# pane_marked is not known.
# turns: tmux api mcp
case $* in
*pane_marked}*)
	for arg; do
		shift
		case $arg in *pane_marked}*) arg=$(printf %s "$arg" | sed 's/pane_marked}/no_such_token}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A zoomed pane has no flag of its own.
# turns: tmux api mcp
# needs: 3.7
case $* in
*pane_flags*)
	for arg; do
		shift
		case $arg in *pane_flags*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_flags}/#{s|Z||:pane_flags}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

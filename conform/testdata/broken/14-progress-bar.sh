# pane_pb_state is not known.
# turns: tmux api mcp
# needs: 3.7
case $* in
*pane_pb_state*)
	for arg; do
		shift
		case $arg in *pane_pb_state*) arg=$(printf %s "$arg" | sed 's/pane_pb_state/no_such_token/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

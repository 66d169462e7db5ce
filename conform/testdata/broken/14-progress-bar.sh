# pane_pb_state is not known.
# turns: tmux api mcp
# needs: 3.7
case $* in
*pane_pb_state*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/pane_pb_state/no_such_token/g')"
	done ;;
esac
exec "$real" "$@"

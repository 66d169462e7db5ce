# capture-pane -P gives what was typed, as the issue has it, where the test types.
# turns: tmux api mcp
case " $* " in
*' capture-pane'*' -P '*' %0 '* | *' capture-pane'*' %0 '*' -P '*)
	skip=
	for arg; do
		shift
		case $arg in
		capture-pane) set -- "$@" display-message -p unread; skip=1 ;;
		';') skip= ;;
		esac
		[ -n "$skip" ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

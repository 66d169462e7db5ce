# capture-pane -P has never anything to give.
# turns: tmux api mcp
case " $* " in
*' capture-pane'*' -P '*)
	skip=
	for arg; do
		shift
		case $arg in
		capture-pane) set -- "$@" display-message -p ''; skip=1 ;;
		';') skip= ;;
		esac
		[ -n "$skip" ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

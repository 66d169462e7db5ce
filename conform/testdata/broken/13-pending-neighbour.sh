# capture-pane -P is about another pane.
# turns: tmux api mcp
case " $* " in
*' capture-pane '*' -P '* | *' capture-pane -P '*)
	for arg; do
		shift
		case $arg in %*) arg=%1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

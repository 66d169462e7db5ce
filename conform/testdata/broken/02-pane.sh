# A pane of a window that is not the current one is taken for its active one.
# turns: api mcp
case " $* " in
*' -t %'*'#{pane_id} #{pane_active} #{window_id}'*)
	for arg; do
		shift
		case $arg in %[0-9]*) arg=$("$real" "$1" "$2" "$3" display-message -p -t "$arg" '#{window_id}') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

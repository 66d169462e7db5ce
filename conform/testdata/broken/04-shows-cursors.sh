# clear-history shows the cursor of every pane.
# turns: tmux api mcp 5/mcp
case " $* " in
*' clear-history '*)
	for tty in $("$real" "$1" "$2" "$3" list-panes -F '#{pane_tty}'); do
		printf '\033[?25h' >"$tty"
	done
	while [ -n "$("$real" "$1" "$2" "$3" list-panes -F 0 -f '#{==:#{cursor_flag},0}')" ]; do :; done ;;
esac
exec "$real" "$@"

# -R resets all panes of the window.
# turns: 4/tmux 4/api 4/mcp tmux api mcp
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	for pane in $("$real" "$1" "$2" "$3" list-panes -F '#{pane_id}'); do
		"$real" "$1" "$2" "$3" send-keys -t "$pane" -R
	done ;;
esac
exec "$real" "$@"

# -R resets the panes that are synchronized with one too.
# turns: tmux api mcp 5/tmux 5/api
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*send-keys [^;]*-t (%[0-9]+) .*/\1/p')
	case "$* " in
	*' synchronize-panes on '*) "$real" "$1" "$2" "$3" send-keys -t %1 -R ;;
	esac
	for pane in $("$real" "$1" "$2" "$3" list-panes -t "$target" -F '#{pane_id}' -f '#{pane_synchronized}'); do
		"$real" "$1" "$2" "$3" send-keys -t "$pane" -R
	done ;;
esac
exec "$real" "$@"

# A count without keys hides the cursor.
# turns: tmux api
target=$(printf '%s ' "$@" | sed -En 's/.*send-keys -t (%[0-9]+) -N ?[0-9]+ (; .*)?$/\1/p')
if [ -n "$target" ]; then
	printf '\033[?25l' >"$("$real" "$1" "$2" "$3" display-message -p -t "$target" '#{pane_tty}')"
	until [ "$("$real" "$1" "$2" "$3" display-message -p -t "$target" '#{cursor_flag}')" = 0 ]; do :; done
fi
exec "$real" "$@"

# A count without keys resets the terminal.
# turns: tmux api
target=$(printf '%s ' "$@" | sed -En 's/.*send-keys -t (%[0-9]+) -N ?[0-9]+ (; .*)?$/\1/p')
[ -z "$target" ] || "$real" "$1" "$2" "$3" send-keys -t "$target" -R
exec "$real" "$@"

# -R types Escape.
# turns: 4/tmux 4/api 4/mcp tmux api mcp
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*send-keys [^;]*-t (%[0-9]+) .*/\1/p')
	"$real" "$1" "$2" "$3" send-keys -t "$target" Escape ;;
esac
exec "$real" "$@"

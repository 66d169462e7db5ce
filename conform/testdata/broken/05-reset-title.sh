# -R takes the title of a pane away.
# turns: 4/tmux 4/api 4/mcp tmux api mcp
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*send-keys [^;]*-t (%[0-9]+) .*/\1/p')
	"$real" "$1" "$2" "$3" select-pane -t "$target" -T '' ;;
esac
exec "$real" "$@"

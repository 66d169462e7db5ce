# -R leaves the color that a program has chosen.
# turns: tmux api mcp
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*send-keys [^;]*-t (%[0-9]+) .*/\1/p')
	tty=$("$real" "$1" "$2" "$3" display-message -p -t "$target" '#{pane_tty}')
	"$real" "$@"
	printf '\033[31m' >"$tty"
	exit ;;
esac
exec "$real" "$@"

# -R leaves no tab stops.
# turns: 4/tmux 4/api 4/mcp tmux api mcp
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*send-keys [^;]*-t (%[0-9]+) .*/\1/p')
	tty=$("$real" "$1" "$2" "$3" display-message -p -t "$target" '#{pane_tty}')
	"$real" "$1" "$2" "$3" send-keys -t "$target" -R
	printf '\033[3g' >"$tty"
	until [ -z "$("$real" "$1" "$2" "$3" display-message -p -t "$target" '#{pane_tabs}')" ]; do :; done
	for arg; do
		shift
		[ "$arg" = -R ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

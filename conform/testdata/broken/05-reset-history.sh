# -R without clear-history clears the history too.
# turns: 4/tmux tmux api
case " $* " in
*' -R \; '* | *' clear-history '*) ;;
*' send-keys'*' -R '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*send-keys [^;]*-t (%[0-9]+) .*/\1/p')
	"$real" "$1" "$2" "$3" send-keys -t "$target" -R ';' clear-history -t "$target"
	for arg; do
		shift
		[ "$arg" = -R ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

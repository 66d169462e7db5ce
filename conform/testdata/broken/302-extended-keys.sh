# extended-keys is not known.
# turns: tmux mcp
case " $* " in
*' show-options '*extended-keys*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/extended-keys/no-such-option/')"
	done ;;
esac
exec "$real" "$@"

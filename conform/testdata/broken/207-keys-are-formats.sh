# send-keys expands formats.
# turns: tmux mcp
case " $* " in
*' send-keys '*'[#{session_name}]'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's|#{session_name}|work|')"
	done ;;
esac
exec "$real" "$@"

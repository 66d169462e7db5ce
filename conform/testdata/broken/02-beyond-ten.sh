# A window whose number has two digits is taken for the one with the first of them.
# turns: tmux mcp
case " $* " in
*' display-message '* | *' list-windows '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^@\([0-9]\)[0-9]$/@\1/')"
	done ;;
esac
exec "$real" "$@"

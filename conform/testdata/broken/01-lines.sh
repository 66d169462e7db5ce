# Without -t a format ends at its first newline.
# turns: tmux api mcp
case " $* " in
*' -t '*) ;;
*' display-message -p '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | head -n 1)"
	done ;;
esac
exec "$real" "$@"

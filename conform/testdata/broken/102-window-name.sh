# rename-window replaces colons.
# turns: tmux mcp
case " $* " in
*' rename-window '*a:b.c*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/a:b/a_b/')"
	done ;;
esac
exec "$real" "$@"

# window_zoomed_flag is not known.
# turns: tmux api mcp
case $* in
*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/window_zoomed_flag/no_such_token/g')"
	done ;;
esac
exec "$real" "$@"

# window_zoomed_flag is not known.
# turns: 2/tmux tmux api mcp
case $* in
*window_zoomed_flag*)
	for arg; do
		shift
		case $arg in *window_zoomed_flag*) arg=$(printf %s "$arg" | sed 's/window_zoomed_flag/no_such_token/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

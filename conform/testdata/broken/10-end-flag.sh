# No window but the first is the end.
# turns: tmux api mcp
case $* in
*window_end_flag}*)
	for arg; do
		shift
		case $arg in *window_end_flag}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_end_flag}/#{window_start_flag}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# window_flags has no letter for a bell.
# turns: tmux api mcp
case $* in
*window_flags}*)
	for arg; do
		shift
		case $arg in *window_flags}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_flags}/#{s|!||:window_flags}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

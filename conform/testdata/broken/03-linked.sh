# In a session that a window is linked into, it is not zoomed.
# turns: tmux api mcp
case " $* " in
*' list-windows '*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/#{?#{==:#{window_index},5},0,#{window_zoomed_flag}}/g')"
	done ;;
esac
exec "$real" "$@"

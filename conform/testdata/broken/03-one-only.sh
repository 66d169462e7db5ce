# Of the zoomed windows of a session only the current one has the flag.
# turns: tmux api mcp
case " $* " in
*' list-windows '*window_zoomed_flag*)
	if [ "$("$real" "$1" "$2" "$3" list-windows -a -f '#{window_zoomed_flag}' 2>/dev/null | wc -l)" -gt 1 ]; then
		for arg; do
			shift
			set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/#{?window_active,#{window_zoomed_flag},0}/g')"
		done
	fi ;;
esac
exec "$real" "$@"

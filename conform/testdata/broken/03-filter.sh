# The flag in a filter is always 0 if the filter is before the format.
# turns: tmux
case " $* " in
*' -f '*window_zoomed_flag*' -F '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/==:#{window_zoomed_flag}/==:0/')"
	done ;;
esac
exec "$real" "$@"

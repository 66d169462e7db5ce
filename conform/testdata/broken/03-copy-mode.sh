# A window whose pane is in copy mode is not zoomed.
# turns: tmux api mcp
case " $* " in
*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/#{?pane_in_mode,0,#{window_zoomed_flag}}/g')"
	done ;;
esac
exec "$real" "$@"

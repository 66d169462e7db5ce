# A window whose panes are synchronized is not zoomed.
# turns: tmux
case " $* " in
*' synchronize-panes '*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/#{?pane_synchronized,0,#{window_zoomed_flag}}/g')"
	done ;;
esac
exec "$real" "$@"

# A dead pane is not zoomed.
# turns: tmux
case " $* " in
*'#{pane_dead} #{window_zoomed_flag}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/#{?pane_dead,0,#{window_zoomed_flag}}/g')"
	done ;;
esac
exec "$real" "$@"

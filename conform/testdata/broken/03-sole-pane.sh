# A window with one pane counts as zoomed after resize-pane -Z.
# turns: tmux
case " $* " in
*' resize-pane -Z '*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{window_zoomed_flag}/#{?#{==:#{window_panes},1},1,#{window_zoomed_flag}}/g')"
	done ;;
esac
exec "$real" "$@"

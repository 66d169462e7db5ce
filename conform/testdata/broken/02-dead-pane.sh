# A dead pane is not counted among those of its window.
# turns: tmux
case " $* " in
*' display-message -p -t @1 #{pane_dead} '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/ #{window_panes}$/ #{?pane_dead,1,#{window_panes}}/')"
	done ;;
esac
exec "$real" "$@"

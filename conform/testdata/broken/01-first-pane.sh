# Without -t the pane is the first one of the window.
# turns: tmux
case " $* " in
*' display-message -p #{session_name} #{pane_id} '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/ #{pane_id}$/ #{=2:#{P:#{pane_id} }}/')"
	done ;;
esac
exec "$real" "$@"

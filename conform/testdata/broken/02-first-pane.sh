# A window's active pane is its last one.
# turns: tmux
case " $* " in
*' display-message '*' -t '*'#{pane_id}'*' -p '* | *' display-message '*' -p '*' -t '*'#{window_id} #{pane_id}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{window_id} #{pane_id}$/#{window_id} #{P:#{?pane_at_bottom,#{pane_id},}}/')"
	done ;;
esac
exec "$real" "$@"

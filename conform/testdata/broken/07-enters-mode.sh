# A pane that a search finds is put into copy mode, to show where.
# turns: tmux api
case " $* " in
*' list-panes'*'#{C'*)
	for pane in $("$real" "$1" "$2" "$3" list-panes -a -F '#{pane_id}' -f '#{C:first}'); do
		"$real" "$1" "$2" "$3" copy-mode -t "$pane"
	done ;;
esac
exec "$real" "$@"

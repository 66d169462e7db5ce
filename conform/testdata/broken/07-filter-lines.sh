# A filter keeps a pane that shows nothing too, if there are many.
# turns: tmux
case " $* " in
*' list-panes -a -F #{pane_id} -f #{C/i:error} '*)
	all=$("$real" "$1" "$2" "$3" list-panes -a -F '#{pane_id}')
	"$real" "$@"
	printf '%s\n' "$all" | sed -n 11p
	exit ;;
esac
exec "$real" "$@"

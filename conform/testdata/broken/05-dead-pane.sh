# -R is refused in a dead pane.
# turns: tmux
case " $* " in
*' -N 3 ; send-keys -t %1 -R ; '*)
	if [ "$("$real" "$1" "$2" "$3" display-message -p -t %1 '#{pane_dead}')" = 1 ]; then
		echo 'pane is dead' >&2
		exit 1
	fi ;;
esac
exec "$real" "$@"

# break-pane -n takes ASCII only.
# turns: tmux
# before: 3.7
case " $* " in
*' break-pane '*' -n zwei '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^zwei .*/zwei/')"
	done ;;
esac
exec "$real" "$@"

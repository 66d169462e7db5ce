# capture-pane -P gives nothing in copy mode.
# turns: tmux api mcp
case " $* " in
*' capture-pane '*' -P '* | *' capture-pane -P '*)
	socket= previous= target=
	for arg; do
		[ "$previous" = -S ] && [ -z "$socket" ] && socket=$arg
		[ "$previous" = -t ] && [ -z "$target" ] && target=$arg
		previous=$arg
	done
	if [ "$("$real" -S "$socket" display-message -p -t "$target" '#{pane_mode}')" = copy-mode ]; then
		skip=
		for arg; do
			shift
			case $arg in
			capture-pane) set -- "$@" display-message -p ''; skip=1 ;;
			';') skip= ;;
			esac
			[ -n "$skip" ] || set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

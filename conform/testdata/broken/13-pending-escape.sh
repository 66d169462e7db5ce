# An escape alone is not pending.
# turns: tmux
case " $* " in
*' capture-pane '*' -P '*' -p '* | *' capture-pane -P -p '*)
	out=$("$real" "$@") || exit
	[ "$out" = "$(printf '\033')" ] || printf '%s\n' "$out"
	exit ;;
esac
exec "$real" "$@"

# In a group of sessions last-window does nothing, and says nothing, where there is none.
# turns: tmux
case " $* " in
*' last-window '*)
	err=$("$real" "$@" 2>&1) && exit
	code=$?
	[ -n "$("$real" -S "$3" list-sessions -f '#{session_grouped}')" ] && exit 0
	printf '%s\n' "$err" >&2
	exit $code ;;
esac
exec "$real" "$@"

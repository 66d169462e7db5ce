# Without a session there are no buffers.
# turns: tmux
case " $* " in
*' list-buffers '*)
	if [ -S "$3" ] && [ -z "$("$real" "$1" "$2" "$3" list-sessions 2>/dev/null)" ]; then exit 0; fi ;;
esac
exec "$real" "$@"

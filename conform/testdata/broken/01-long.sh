# Without -t an answer ends after a thousand bytes.
# turns: tmux api mcp
case " $* " in
*' -t '*) ;;
*' display-message -p '*)
	if [ -S "$3" ]; then
		"$real" "$@" | cut -b -1000
		exit
	fi ;;
esac
exec "$real" "$@"

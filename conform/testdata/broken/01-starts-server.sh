# Without a server, a question fails and leaves one behind.
# turns: tmux
case " $* " in
*' display-message -p '*)
	if ! [ -S "$3" ]; then
		"$real" "$@"
		"$real" "$1" "$2" "$3" start-server ';' set-option -s exit-empty off
		exit 1
	fi ;;
esac
exec "$real" "$@"

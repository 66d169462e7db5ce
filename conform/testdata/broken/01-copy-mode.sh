# Without -t, a question for the socket puts a pane into copy mode.
# turns: tmux api mcp 10/api
case " $* " in
*' -t '*) ;;
*' display-message -p '*'socket_path}'*) "$real" "$1" "$2" "$3" copy-mode 2>/dev/null ;;
esac
exec "$real" "$@"

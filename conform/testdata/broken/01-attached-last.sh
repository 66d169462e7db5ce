# Without -t the session is the one that was attached to last, not the one used last.
# turns: tmux
case " $* " in
*' detach-client '*) ;;
*' -t '*) ;;
*' display-message -p #{session_name} #{pane_id} ')
	last=$("$real" "$1" "$2" "$3" list-sessions -F '#{session_last_attached} #{session_name}' | sort | tail -n 1)
	set -- "$@" -t "${last#* }:" ;;
esac
exec "$real" "$@"

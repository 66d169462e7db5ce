# The limit of buffers counts those with names.
# turns: tmux
case " $* " in
*' buffer-limit 2 '*' list-buffers '*) "$real" "$1" "$2" "$3" delete-buffer -b mine_1 ;;
esac
exec "$real" "$@"

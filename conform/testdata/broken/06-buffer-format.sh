# list-buffers knows no -F.
# turns: tmux api mcp 13/tmux
case $* in
*'list-buffers '*'-F '*)
	echo 'command list-buffers: unknown flag -F' >&2
	exit 1 ;;
esac
exec "$real" "$@"

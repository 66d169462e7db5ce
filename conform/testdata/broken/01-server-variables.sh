# A server variable has no value without -t.
# turns: tmux api mcp
case " $* " in
*' -t '*) ;;
*'#{socket_path}'* | *'#{q:socket_path}'*)
	for arg; do
		shift
		case $arg in *socket_path}*) arg=$(printf %s "$arg" | sed 's/socket_path}/no_such_token}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

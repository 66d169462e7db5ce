# A server variable has no value without -t.
# turns: tmux api mcp
case " $* " in
*' -t '*) ;;
*'#{socket_path}'* | *'#{q:socket_path}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/socket_path}/no_such_token}/g')"
	done ;;
esac
exec "$real" "$@"

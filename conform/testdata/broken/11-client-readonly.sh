# client_readonly is not known.
# turns: tmux api mcp
case $* in
*client_readonly}*)
	for arg; do
		shift
		case $arg in *client_readonly}*) arg=$(printf %s "$arg" | sed 's/client_readonly}/no_such_token}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

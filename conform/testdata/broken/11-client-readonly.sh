# client_readonly is not known.
# turns: tmux api mcp
case $* in
*client_readonly}*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/client_readonly}/no_such_token}/g')"
	done ;;
esac
exec "$real" "$@"

# A session is in no group, it says.
# turns: tmux api mcp
case $* in
*session_grouped}*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*session_grouped}/0/g')"
	done ;;
esac
exec "$real" "$@"

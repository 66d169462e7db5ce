# A client that has a theme has its prefix down.
# turns: tmux api mcp
case $* in
*client_prefix}*)
	for arg; do
		shift
		case $arg in *client_prefix}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_prefix}/#{?client_termtype,1,#{client_prefix}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

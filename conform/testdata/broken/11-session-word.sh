# client_session is cut at a space.
# turns: tmux
case $* in
*client_session}*)
	for arg; do
		shift
		case $arg in *client_session}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_session}/#{s| .*||:client_session}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

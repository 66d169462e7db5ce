# client_termtype ends at a comma.
# turns: tmux
case $* in
*client_termtype}*)
	for arg; do
		shift
		case $arg in *client_termtype}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_termtype}/#{s|#,.*||:client_termtype}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

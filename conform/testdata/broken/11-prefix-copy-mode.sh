# client_prefix is 0 over a pane in copy mode.
# turns: tmux
case $* in
*client_prefix}*)
	for arg; do
		shift
		case $arg in *client_prefix}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_prefix}/#{?pane_in_mode,0,#{client_prefix}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A pane that was dead once has no pane_pipe.
# turns: tmux
case " $* " in
*' respawn-pane -t %2 '*)
	for arg; do
		shift
		case $arg in *pane_pipe}*) arg=$(printf %s "$arg" | sed 's/#{pane_pipe}/#{?#{==:#{pane_id},%2},0,#{pane_pipe}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

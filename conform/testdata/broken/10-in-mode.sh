# A pane is in one mode at most.
# turns: tmux
case $* in
*pane_in_mode}*)
	for arg; do
		shift
		case $arg in *pane_in_mode}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_in_mode}/#{?pane_in_mode,1,0}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

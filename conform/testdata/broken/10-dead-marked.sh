# A dead pane is the last one too.
# turns: tmux
case $* in
*pane_last}*)
	for arg; do
		shift
		case $arg in *pane_last}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_last}/#{||:#{pane_last},#{pane_dead}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

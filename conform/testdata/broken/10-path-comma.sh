# pane_path ends at a comma.
# turns: tmux
case $* in
*pane_path}*)
	for arg; do
		shift
		case $arg in *pane_path}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_path}/#{s|#,.*||:pane_path}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

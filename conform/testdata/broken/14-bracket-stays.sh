# The flag of bracketed paste is that of the whole window.
# turns: tmux api mcp
# needs: 3.7
case $* in
*bracket_paste_flag*)
	for arg; do
		shift
		case $arg in *bracket_paste_flag*) arg=$(printf %s "$arg" | sed 's/#{[q:]*bracket_paste_flag}/#{?#{==:#{pane_id},%0},1,#{bracket_paste_flag}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

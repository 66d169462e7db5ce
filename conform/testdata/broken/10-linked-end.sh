# A linked window is at no end.
# turns: tmux
case $* in
*window_end_flag}*)
	for arg; do
		shift
		case $arg in *window_end_flag}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*window_end_flag}/#{?#{\&\&:#{window_linked},#{!:#{session_grouped}}},0,#{window_end_flag}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A tmux before 3.7 has a token of 3.7.
# turns: tmux
# before: 3.7
case $* in
*bracket_paste_flag*)
	for arg; do
		shift
		case $arg in *bracket_paste_flag*) arg=$(printf %s "$arg" | sed 's/#{[q:]*bracket_paste_flag}/0/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

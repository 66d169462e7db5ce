# select-layout does nothing.
# turns: tmux
case " $* " in
*' select-layout -t %0 '*)
	for arg; do
		shift
		case $arg in
		select-layout) set -- "$@" has-session ;;
		*80x2* | *'"w":80'*) ;;
		*) set -- "$@" "$arg" ;;
		esac
	done ;;
esac
exec "$real" "$@"

# A linked window of two targets is that of the first one's session.
# turns: tmux
case " $* " in
*' display-message -p -t first:0 -t second:7 '*)
	for arg; do
		shift
		case $arg in second:7) arg=first:0 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

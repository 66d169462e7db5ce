# -X with nothing ends the count.
# turns: tmux
case " $* " in
*' send-keys -t %0 -X ; '*)
	for arg; do
		case $1 in -X) [ "$2" != ';' ] || set -- "$@" -N 1 ;; esac
		[ "$1" = -X ] && [ "$2" = ';' ] || set -- "$@" "$1"
		shift
	done ;;
esac
exec "$real" "$@"

# list-buffers keeps all, whatever the filter says.
# turns: tmux api
case $* in
*'list-buffers '*'-f '*)
	previous=
	for arg; do
		shift
		case $previous in -f) [ "$arg" = /dev/null ] || arg=1 ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# list-buffers keeps all if the filter is before the format.
# turns: tmux api
case " $* " in
*' list-buffers -f '*' -F '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,/dev/null) ;; -f,*) arg=1 ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

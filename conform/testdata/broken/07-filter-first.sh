# list-panes keeps all if the filter is before the format.
# turns: tmux api mcp
case " $* " in
*' list-panes'*' -f #{'*' -F '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#*) arg=1 ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

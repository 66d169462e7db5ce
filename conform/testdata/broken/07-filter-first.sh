# A search keeps all panes if the filter is before the format.
# turns: tmux api
case " $* " in
*' list-panes'*' -f #{'*' -F '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#{C*) arg=1 ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A filter of list-sessions keeps all if it is before the format.
# turns: tmux api
case " $* " in
*' list-sessions -f #{==:#{session_windows}'*' -F '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#*) arg=1 ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

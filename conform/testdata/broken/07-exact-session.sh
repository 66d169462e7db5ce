# A session by its exact name is found only if it is the current one.
# turns: tmux
case " $* " in
*' list-panes '*' -t =other '*)
	for arg; do
		shift
		case $arg in =other) arg=work ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

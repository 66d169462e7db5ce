# While a client is attached, a filter of list-panes keeps all.
# turns: tmux api
case " $* " in
*' list-panes'*' -f #{'*)
	if [ -n "$("$real" "$1" "$2" "$3" list-clients 2>/dev/null)" ]; then
		previous=
		for arg; do
			shift
			case $previous,$arg in -f,#*) arg=1 ;; esac
			previous=$arg
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

# A filter of list-buffers keeps all while a client is attached.
# turns: tmux api
case " $* " in
*' list-buffers'*' -f '*)
	if [ -n "$("$real" "$1" "$2" "$3" list-clients 2>/dev/null)" ]; then
		for arg; do
			shift
			case $arg in '#{m'* | 0) arg=1 ;; esac
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

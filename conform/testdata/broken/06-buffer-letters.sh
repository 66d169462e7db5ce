# A filter of list-buffers that is not ASCII keeps nothing.
# turns: tmux api
case $* in
*'list-buffers '*'#{m:*Ä*'*)
	for arg; do
		shift
		case $arg in '#{m:*Ä*'*) arg=0 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

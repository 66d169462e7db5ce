# Of two filters of list-buffers the first counts.
# turns: tmux
case " $* " in
*' -f 1 '*' -f #{m:mine_'*)
	for arg; do
		shift
		case $arg in '#{m:mine_'*) arg=1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

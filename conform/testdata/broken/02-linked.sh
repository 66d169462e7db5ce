# A window of two sessions is always that of the first.
# turns: tmux
case " $* " in
*' -t two:'*'#{session_name}:'*)
	for arg; do
		shift
		case $arg in two:7 | two:@*) arg=one:1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

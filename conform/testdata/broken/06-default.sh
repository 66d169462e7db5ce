# Without -F a filter of list-buffers means nothing.
# turns: tmux
case " $* " in
*' list-buffers -f #{m/r:^long$|^two$,#{buffer_name}} ')
	for arg; do
		shift
		case $arg in '#{m/r:^long'*) arg=1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

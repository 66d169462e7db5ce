# A count without keys means nothing to copy mode.
# turns: tmux api
case " $* " in
*' copy-mode '*' send-keys '*' -N 3 ;'* | *' send-keys -t %'?' -N 3 ;'*)
	for arg; do
		shift
		case $arg in 3) arg=1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# list-panes -s lists the panes of all sessions.
# turns: tmux
case " $* " in
*' list-panes -s -t '*'#{C'*)
	for arg; do
		shift
		case $arg in -s) arg=-a ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

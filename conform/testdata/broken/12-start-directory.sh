# A new pane ignores its directory.
# turns: mcp 207/tmux
case " $* " in
*' split-window '*' -c '*)
	previous=
	for arg; do
		shift
		case $previous in -c) arg=/ ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

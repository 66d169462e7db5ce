# split-window -b is ignored.
# turns: tmux
case " $* " in
*' split-window '*' -b -h '*)
	for arg; do
		shift
		[ "$arg" = -b ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

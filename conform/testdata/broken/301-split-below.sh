# split-window -d is ignored below.
# turns: tmux
case " $* " in
*' split-window -d -v -t team:'*)
	for arg; do
		shift
		[ "$arg" = -d ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

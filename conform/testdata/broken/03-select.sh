# select-pane leaves a zoomed window zoomed, without -Z too.
# turns: tmux api
case " $* " in
*' select-pane -t %'*)
	for arg; do
		shift
		set -- "$@" "$arg"
		[ "$arg" != select-pane ] || set -- "$@" -Z
	done ;;
esac
exec "$real" "$@"

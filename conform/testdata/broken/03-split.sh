# split-window ends the zoom, with -Z too.
# turns: tmux api
case " $* " in
*' split-window -Z '*)
	for arg; do
		shift
		[ "$arg" = -Z ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

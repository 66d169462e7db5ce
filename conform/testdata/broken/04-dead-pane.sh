# -R leaves the cursor of a dead pane where it is.
# turns: tmux
case " $* " in
*' send-keys -R -t %2  ; '*)
	for arg; do
		shift
		[ "$arg" = -R ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

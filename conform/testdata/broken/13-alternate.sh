# capture-pane -P with -a gives the hidden screen.
# turns: tmux
case " $* " in
*' capture-pane -P -a '*)
	for arg; do
		shift
		[ "$arg" = -P ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

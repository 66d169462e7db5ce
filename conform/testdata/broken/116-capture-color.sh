# capture-pane loses colors.
# turns: tmux
case " $* " in
*' capture-pane -p -e -t %0 '*)
	for arg; do
		shift
		[ "$arg" = -e ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

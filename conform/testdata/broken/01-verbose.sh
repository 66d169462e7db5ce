# display-message -v says nothing about the format.
# turns: tmux 2/tmux
case " $* " in
*' display-message -v '*)
	for arg; do
		shift
		[ "$arg" = -v ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

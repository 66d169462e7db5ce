# display-message -v says nothing about the format.
# turns: tmux
case " $* " in
*' display-message -v '*)
	for arg; do
		shift
		[ "$arg" = -v ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# An empty format is the default one.
# turns: tmux
case " $* " in
*' display-message -p  '*)
	for arg; do
		shift
		[ -z "$arg" ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

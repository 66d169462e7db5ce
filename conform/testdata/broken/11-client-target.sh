# list-clients lists those of all sessions.
# turns: tmux api
case " $* " in
*' list-clients -t '* | *' list-clients '*' -t '*)
	previous=
	for arg; do
		shift
		[ "$arg" = -t ] || [ "$previous" = -t ] || set -- "$@" "$arg"
		previous=$arg
	done ;;
esac
exec "$real" "$@"

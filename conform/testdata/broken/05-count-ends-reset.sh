# With a count, -R resets nothing.
# turns: tmux api
case " $* " in
*' send-keys '*' -N '*' -R '* | *' send-keys '*-R' -N '*)
	for arg; do
		shift
		[ "$arg" = -R ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

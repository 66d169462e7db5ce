# send-keys -R with an empty key resets nothing.
# turns: 4/tmux tmux api
case " $* " in
*clear-history*) ;;
*' send-keys '*' -R  '*)
	for arg; do
		shift
		[ "$arg" = -R ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

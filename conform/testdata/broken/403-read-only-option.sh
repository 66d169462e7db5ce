# A read-only control client is not read-only.
# turns: tmux
# needs: 3.7
case " $* " in
*' -C attach-session -r -t work '*)
	for arg; do
		shift
		[ "$arg" = -r ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

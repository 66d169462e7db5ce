# A detached session has the size of a client of another one.
# turns: tmux
# needs: 3.6
case " $* " in
*' new-session '*' -x 130 '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^130$/80/; s/^35$/23/')"
	done ;;
esac
exec "$real" "$@"

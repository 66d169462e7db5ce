# A second detached session has the size of the first.
# turns: tmux
# needs: 3.3
case " $* " in
*' new-session '*' -x 120 '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^120$/100/; s/^30$/40/')"
	done ;;
esac
exec "$real" "$@"

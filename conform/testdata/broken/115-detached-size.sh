# A detached session has another size.
# turns: tmux
# needs: 3.3
case " $* " in
*' new-session '*' -x 100 '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^100$/90/')"
	done ;;
esac
exec "$real" "$@"

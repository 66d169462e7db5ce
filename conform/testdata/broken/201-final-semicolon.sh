# A semicolon at the end of a text stays.
# turns: tmux
case " $* " in
*'one; '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^one;$/one\\;/')"
	done ;;
esac
exec "$real" "$@"

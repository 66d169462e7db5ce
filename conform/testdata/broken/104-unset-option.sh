# show-options of an unset user option prints an empty line.
# turns: tmux
# needs: 3.3
case " $* " in
*' show-options -gv @nothing '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^-gv$/-gqv/')"
	done ;;
esac
exec "$real" "$@"

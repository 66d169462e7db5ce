# show-options of an unset option of a pane prints an empty line.
# turns: tmux
# needs: 3.3
case " $* " in
*' show-options -pv '*' @nothing '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^-pv$/-pqv/')"
	done ;;
esac
exec "$real" "$@"

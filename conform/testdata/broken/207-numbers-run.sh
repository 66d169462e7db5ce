# A command in a number is not run.
# turns: tmux
# needs: 3.4
case " $* " in
*' capture-pane '*' -S #(touch '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^#(touch .*/0/')"
	done ;;
esac
exec "$real" "$@"

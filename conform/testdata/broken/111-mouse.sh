# The mouse has a state of its own.
# turns: tmux
case " $* " in
*' show-options -gv mouse '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^mouse$/status-position/')"
	done ;;
esac
exec "$real" "$@"

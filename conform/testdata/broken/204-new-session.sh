# The name of a new session is text.
# turns: tmux
case " $* " in
*' new-session '*' -s n#{l:ew}m '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{l:ew}/##{l:ew}/')"
	done ;;
esac
exec "$real" "$@"

# A name is text.
# turns: tmux
case " $* " in
*' rename-window '*'#{'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{session_name}/##{session_name}/')"
	done ;;
esac
exec "$real" "$@"

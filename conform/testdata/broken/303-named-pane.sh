# A pane that a name finds is always the active one.
# turns: tmux
case " $* " in
*':fenster.1 '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/:fenster\.1$/:fenster/')"
	done ;;
esac
exec "$real" "$@"

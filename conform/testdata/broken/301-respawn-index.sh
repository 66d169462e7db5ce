# respawn-pane with an index starts the command in another pane.
# turns: tmux
case " $* " in
*' respawn-pane '*' team:0.3 '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^team:0.3$/team:0.0/')"
	done ;;
esac
exec "$real" "$@"

# respawn-pane has no -k.
# turns: tmux mcp
case " $* " in
*' respawn-pane '*'-k '*)
	for arg; do
		shift
		[ "$arg" = -k ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# break-pane ignores -n.
# turns: tmux
# before: 3.7
case " $* " in
*' break-pane '*' -n mine '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^mine$/sleep/')"
	done ;;
esac
exec "$real" "$@"

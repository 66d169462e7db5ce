# display-panes has no -b.
# turns: tmux
# before: next-3.8
case " $* " in
*' display-panes -b '*)
	echo 'command display-panes: unknown flag -b' >&2
	exit 1 ;;
esac
exec "$real" "$@"

# display-message refuses the index of a pane that does not exist.
# turns: tmux
case " $* " in
*' display-message '*' work:1.0 '*)
	echo 'can'"'"'t find pane: 0' >&2
	exit 1 ;;
esac
exec "$real" "$@"

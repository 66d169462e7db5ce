# resize-pane -L takes no count.
# turns: tmux
case " $* " in
*' resize-pane -L '*' 7 '*)
	echo 'command resize-pane: too many arguments (need at most 1)' >&2
	exit 1 ;;
esac
exec "$real" "$@"

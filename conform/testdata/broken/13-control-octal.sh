# In control mode what is pending is octal.
# turns: tmux
case " $* " in
*' -C attach-session '*)
	while IFS= read -r line; do
		printf '%s\n' "$line" | sed 's/capture-pane -P/& -C/'
	done | "$real" "$@"
	exit ;;
esac
exec "$real" "$@"

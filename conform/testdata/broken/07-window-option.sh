# In a filter the option of a window counts, not that of its pane.
# turns: tmux
case " $* " in
*' list-panes '*'#{@role}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{@role}/db/')"
	done ;;
esac
exec "$real" "$@"

# A window whose pane is in copy mode has the name [tmux].
# turns: tmux
case " $* " in
*' copy-mode -t @1 '*'#{pane_in_mode} #{window_name}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/ #{window_name}/ #{?pane_in_mode,[tmux],#{window_name}}/')"
	done ;;
esac
exec "$real" "$@"

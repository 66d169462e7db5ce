# Without -t a server variable has no value while the current pane is in copy mode.
# turns: tmux
case " $* " in
*' copy-mode '*'#{version} #{@place}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{version} #{@/#{?pane_in_mode,,#{version}} #{@/')"
	done ;;
esac
exec "$real" "$@"

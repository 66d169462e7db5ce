# Without -t a server variable has no value while the current pane is dead.
# turns: tmux
case " $* " in
*' display-message -p #{pane_dead} #{version}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{version}/#{?pane_dead,,#{version}}/')"
	done ;;
esac
exec "$real" "$@"

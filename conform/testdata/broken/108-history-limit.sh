# A pane has a limit that nobody set.
# turns: tmux
case " $* " in
*'#{history_limit}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{history_limit}/77/')"
	done ;;
esac
exec "$real" "$@"

# Without -t the option of the session counts, not that of its window.
# turns: tmux
case " $* " in
*' copy-mode '*'#{version} #{@place}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{@place}/session/')"
	done ;;
esac
exec "$real" "$@"

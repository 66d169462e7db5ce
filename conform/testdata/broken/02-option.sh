# The option of a window is that of the current one.
# turns: tmux
case " $* " in
*' copy-mode -t @1 '*'#{@place}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{@place}/session/')"
	done ;;
esac
exec "$real" "$@"

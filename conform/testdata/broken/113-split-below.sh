# split-window -v takes no percentage.
# turns: tmux
case " $* " in
*' split-window '*' -v -l 25% '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^25%$/10/')"
	done ;;
esac
exec "$real" "$@"

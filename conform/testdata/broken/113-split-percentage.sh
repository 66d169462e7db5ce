# split-window takes no percentage.
# turns: tmux
case " $* " in
*' split-window '*' -l 30% '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^30%$/10/')"
	done ;;
esac
exec "$real" "$@"

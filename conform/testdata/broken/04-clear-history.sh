# clear-history clears nothing.
# turns: tmux api mcp
case " $* " in
*' clear-history '*)
	for arg; do
		shift
		case $arg in clear-history) arg=has-session ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# clear-history clears nothing in copy mode.
# turns: tmux api mcp
case " $* " in
*' clear-history '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*clear-history -t ?(%[0-9]+) .*/\1/p')
	case "$* $("$real" "$1" "$2" "$3" display-message -p -t "$target" 'mode=#{pane_in_mode}')" in
	*mode=1* | *' copy-mode '*)
		for arg; do
			shift
			case $arg in clear-history) arg=has-session ;; esac
			set -- "$@" "$arg"
		done ;;
	esac ;;
esac
exec "$real" "$@"

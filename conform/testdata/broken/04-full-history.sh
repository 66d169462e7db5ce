# clear-history leaves a history that is full.
# turns: tmux api mcp
case " $* " in
*' clear-history '*)
	target=$(printf '%s ' "$@" | sed -En 's/.*clear-history -t ?(%[0-9]+) .*/\1/p')
	if [ "$("$real" "$1" "$2" "$3" display-message -p -t "$target" '#{e|>=:#{history_size},#{e|-:#{history_limit},1}}')" = 1 ]; then
		for arg; do
			shift
			case $arg in clear-history) arg=has-session ;; esac
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

# list-clients -t lists those of the whole group of sessions.
# turns: tmux
case " $* " in
*' list-clients -t one '*)
	group=$("$real" -S "$3" display-message -p -t one: '#{session_grouped}')
	if [ "$group" = 1 ]; then
		skip=
		for arg; do
			shift
			case $skip$arg in
			list-clients) skip=. ;;
			.-t) skip=.. && continue ;;
			..one) skip=done && continue ;;
			esac
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

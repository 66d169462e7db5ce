# paste-buffer pastes something else.
# turns: tmux
# before: 3.7
case "$*" in
*' /dev/null paste-buffer -t %0') # not one in a list
	for arg; do
		shift
		case $arg in
		paste-buffer) set -- "$@" send-keys -l ;;
		%0) set -- "$@" "$arg" 'a^[b' ;;
		*) set -- "$@" "$arg" ;;
		esac
	done ;;
esac
exec "$real" "$@"

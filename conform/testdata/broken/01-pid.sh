# The server's process is another one with each question.
# turns: tmux
case " $* " in
*' -t '*) ;;
*' display-message -p '*'#{pid}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed "s/^#{pid}/$$/")"
	done ;;
esac
exec "$real" "$@"

# A command in a pattern is text.
# turns: tmux
case $* in
*'#{C:#(touch '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^#{C:#(touch .*/0/')"
	done ;;
esac
exec "$real" "$@"

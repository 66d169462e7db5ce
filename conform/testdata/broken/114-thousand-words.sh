# A list has at most 1000 words.
# turns: tmux
# before: 3.7
if [ $# -gt 1000 ]; then
	exit 1
fi
exec "$real" "$@"

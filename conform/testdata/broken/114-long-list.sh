# A list may be of any length.
# turns: tmux
for arg; do
	[ ${#arg} -lt 16000 ] || exit 0
done
exec "$real" "$@"

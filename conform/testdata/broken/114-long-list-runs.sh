# Of a list that is too long the first command runs.
# turns: tmux
for arg; do
	if [ ${#arg} -ge 16000 ]; then
		"$real" "$1" "$2" "$3" "$4" "$5" set-buffer -b mine hello
		break
	fi
done
exec "$real" "$@"

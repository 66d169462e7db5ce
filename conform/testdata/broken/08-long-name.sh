# An error is cut after eighty bytes.
# turns: tmux
err=$(mktemp)
"$real" "$@" 2>"$err"
code=$?
cut -b 1-80 "$err" >&2
rm "$err"
exit $code
exec "$real" "$@"

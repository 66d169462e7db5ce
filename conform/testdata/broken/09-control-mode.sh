# In control mode the first of two targets counts.
# turns: tmux
case " $* " in
*' -C attach-session '*)
	while IFS= read -r line; do
		printf '%s\n' "$line" | sed 's/ -t \([^ ]*\) -t [^ ]*/ -t \1/g'
	done | "$real" "$@"
	exit ;;
esac
exec "$real" "$@"

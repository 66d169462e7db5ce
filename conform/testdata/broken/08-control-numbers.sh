# In control mode an error has the number of the next block.
# turns: tmux
case " $* " in
*' -C attach-session '*)
	"$real" "$@" | while IFS= read -r line; do
		case $line in
		'%error '*)
			set -- $line
			line="$1 $2 $(($3 + 1)) $4" ;;
		esac
		printf '%s\n' "$line"
	done
	exit ;;
esac
exec "$real" "$@"

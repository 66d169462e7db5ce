# run-shell -d ignores -E.
# turns: tmux
# needs: 3.6
case " $* " in
*' run-shell '*' -E -d '*)
	"$real" "$@" | sed '$d'
	exit ;;
esac
exec "$real" "$@"

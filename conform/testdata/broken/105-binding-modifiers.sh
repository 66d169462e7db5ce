# list-keys leaves out keys with modifiers.
# turns: tmux
# before: 3.7
case " $* " in
*' list-keys -T other '*)
	"$real" "$@" | sed '/C-M-/d'
	exit ;;
esac
exec "$real" "$@"

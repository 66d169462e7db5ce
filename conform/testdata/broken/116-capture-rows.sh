# capture-pane -J joins two rows at most.
# turns: tmux
case " $* " in
*' capture-pane '*' -J -t :bunt '*)
	"$real" "$@" | sed 's/^0\{80\}/&\
/'
	exit ;;
esac
exec "$real" "$@"

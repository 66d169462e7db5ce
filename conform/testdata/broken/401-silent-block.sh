# A command that prints nothing has no block.
# turns: tmux
case " $* " in
*' -C attach-session -t work '*)
	sed -u 's/ ; refresh-client ;/ ;/' | "$real" "$@"
	exit ;;
esac
exec "$real" "$@"

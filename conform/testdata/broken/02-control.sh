# In control mode, a window is looked for in the session of the client.
# turns: tmux
case " $* " in
*' -C attach-session -t two '*)
	sed -u 's/-t @0/-t two:/' | "$real" "$@"
	exit ;;
esac
exec "$real" "$@"

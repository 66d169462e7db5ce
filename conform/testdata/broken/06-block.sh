# list-buffers prints 16384 bytes at most.
# turns: tmux
case " $* " in
*' list-buffers -F #{buffer_name} 0'*)
	"$real" "$@" | head -c 16384
	exit ;;
esac
exec "$real" "$@"

# send-keys needs a key or a flag.
# turns: tmux
case " $* " in
*' send-keys -t %'[0-9]' ;'*)
	echo 'command send-keys: too few arguments (need at least 1)' >&2
	exit 1 ;;
esac
exec "$real" "$@"

# send-keys with a count needs a key.
# turns: tmux api
case " $* " in
*' send-keys '*' -N 3 ' | *' send-keys '*' -N 3 ; '*)
	echo 'command send-keys: too few arguments (need at least 1)' >&2
	exit 1 ;;
esac
exec "$real" "$@"

# send-keys with -R needs a key, where the test asks for it.
# turns: mcp
case " $* " in
*' -R  '* | *' y '* | *' z '*) ;; # with a key, or an empty one
*' send-keys -t %1 -R '*)
	echo 'command send-keys: too few arguments (need at least 1)' >&2
	exit 1 ;;
esac
exec "$real" "$@"

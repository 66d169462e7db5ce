# send-keys with -R needs a key, where the test asks for it.
# turns: mcp
case " $* " in
*' -R  '* | *' y '* | *' z '* | *' -N '*) ;; # with a key, an empty one, or a count
*' send-keys -t %1 -R '*)
	echo 'command send-keys: too few arguments (need at least 1)' >&2
	exit 1 ;;
esac
exec "$real" "$@"

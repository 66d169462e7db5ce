# The same target twice is refused.
# turns: tmux
case " $* " in
*' -t %1 -t %1 '*)
	echo 'duplicate -t' >&2
	exit 1 ;;
esac
exec "$real" "$@"

# Two dashes behind -- are not typed.
# turns: tmux
case " $* " in
*' -l -- -- '*)
	exit ;;
esac
exec "$real" "$@"

# An empty key that is literal types a space.
# turns: tmux
case " $* " in
*' send-keys -l '*'  ')
	for arg; do
		shift
		set -- "$@" "${arg:- }"
	done ;;
esac
exec "$real" "$@"

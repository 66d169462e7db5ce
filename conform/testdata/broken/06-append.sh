# set-buffer -a replaces what is there.
# turns: tmux
case " $* " in
*' set-buffer -a '*)
	for arg; do
		shift
		[ "$arg" = -a ] || set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

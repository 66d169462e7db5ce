# A target that is joined to other flags is ignored.
# turns: tmux
case " $* " in
*' display-message '*)
	for arg; do
		shift
		case $arg in -pt?*) arg=-p ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

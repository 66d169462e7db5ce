# A dollar sign is lost in an option of a window.
# turns: tmux
case " $* " in
*' set-option -w '*' @satz '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/\$//')"
	done ;;
esac
exec "$real" "$@"

# A semicolon at the end of a buffer stays.
# turns: tmux
case " $* " in
*' set-buffer '*' fünf; '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/fünf;$/fünf\\;/')"
	done ;;
esac
exec "$real" "$@"

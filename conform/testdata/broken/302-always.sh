# extended-keys is on or off.
# turns: tmux
case " $* " in
*' set-option -s extended-keys always '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^always$/on/')"
	done ;;
esac
exec "$real" "$@"

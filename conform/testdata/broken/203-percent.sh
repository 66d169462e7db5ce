# A doubled percent sign is no different from one.
# turns: tmux
case " $* " in
*' display-message '*'a%%Yb'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/%%/%/')"
	done ;;
esac
exec "$real" "$@"

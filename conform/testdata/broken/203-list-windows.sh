# list-windows -F has the year for %Y.
# turns: tmux
case " $* " in
*' list-windows '*'%ü%Y%'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/%Y/2026/')"
	done ;;
esac
exec "$real" "$@"

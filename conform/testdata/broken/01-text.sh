# A format that is not ASCII prints nothing.
# turns: tmux
case " $* " in
*' display-message -p Ünïcode '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | LC_ALL=C sed 's/.*[\o200-\o377].*//')"
	done ;;
esac
exec "$real" "$@"

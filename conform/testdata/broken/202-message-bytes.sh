# display-message drops control bytes.
# turns: tmux
case " $* " in
*' display-message '*'ü#{'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/\o1//')"
	done ;;
esac
exec "$real" "$@"

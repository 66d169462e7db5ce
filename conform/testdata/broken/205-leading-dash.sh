# send-keys takes a text that begins with a dash.
# turns: tmux
case " $* " in
*'-x one'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^-x one$/x one/')"
	done ;;
esac
exec "$real" "$@"

# -R resets nothing while a terminal is attached.
# turns: 4/tmux tmux
case " $* " in
*' -R \; '*) ;; # which it refuses
*' send-keys'*' -R '*)
	if [ -n "$("$real" "$1" "$2" "$3" list-clients -F '#{client_tty}' 2>/dev/null | tr -d '\n')" ]; then
		for arg; do
			shift
			[ "$arg" = -R ] || set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

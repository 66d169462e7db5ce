# A control client is read-only, and no other.
# turns: tmux
case $* in
*client_readonly}*)
	for arg; do
		shift
		case $arg in *client_readonly}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_readonly}/#{client_control_mode}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

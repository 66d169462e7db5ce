# A last session that is gone is still named.
# turns: tmux
case " $* " in
*' kill-session -t gone ; '*)
	for arg; do
		shift
		case $arg in *client_last_session}*) arg=$(printf %s "$arg" | sed 's/#{client_last_session}/gone/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# While a client is attached, run-shell runs in the directory of its session.
# turns: tmux
# needs: 3.4
case " $* " in
*' source-file '*) ;;
*' run-shell -c '*)
	if [ -n "$("$real" -S "$3" list-clients 2>/dev/null)" ]; then
		previous=
		for arg; do
			shift
			case $previous in -c) arg=/ ;; esac
			previous=$arg
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

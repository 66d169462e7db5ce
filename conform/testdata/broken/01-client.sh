# display-message -c chooses the client.
# turns: tmux
# needs: 3.3
case " $* " in
*' -t '*) ;;
*' display-message -p -c '*)
	clients=$("$real" "$1" "$2" "$3" list-clients -F '#{client_name} #{client_session}')
	previous=
	for arg; do
		shift
		set -- "$@" "$arg"
		case $previous in -c) set -- "$@" -t "$(printf '%s\n' "$clients" | sed -n "s,^$arg ,,p"):" ;; esac
		previous=$arg
	done ;;
esac
exec "$real" "$@"

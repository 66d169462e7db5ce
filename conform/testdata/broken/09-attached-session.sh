# Of two targets the one that a client is attached to counts.
# turns: tmux
case " $* " in
*' set-option -w -t '*' -t '*)
	session=$("$real" -S "$3" list-clients -F '#{client_session}' | head -n 1)
	target= previous=
	for arg; do
		shift
		case $arg in ';') target= ;; esac
		if [ "$previous" = -t ]; then
			[ "$target" ] && [ "$target" = "$session:0" ] && arg=$target
			target=$arg
		fi
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

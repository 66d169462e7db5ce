# delete-buffer takes the newest, whatever its name.
# turns: tmux mcp 8/tmux
case " $* " in
*' delete-buffer -b '*)
	name=$("$real" "$1" "$2" "$3" list-buffers -F '#{buffer_name}' | head -n 1)
	previous=
	for arg; do
		shift
		case $previous in -b) arg=$name ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# list-buffers leaves out the buffers that have their names from tmux.
# turns: tmux api
case " $* " in
*' list-buffers'*' -f #{m/r:'*)
	for arg; do
		shift
		case $arg in '#{m/r:'*) arg="#{?#{m/r:^buffer[0-9],#{buffer_name}},,$arg}" ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

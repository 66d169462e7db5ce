# A window that is asked about becomes the current one.
# turns: tmux api mcp
case " $* " in
*window_bell_flag*) ;; # whole rows
*' display-message '*' -t @'* | *' list-windows -t @'*)
	previous=
	for arg; do
		case $previous,$arg in -t,@*) "$real" "$1" "$2" "$3" select-window -t "$arg" 2>/dev/null ;; esac
		previous=$arg
	done ;;
esac
exec "$real" "$@"

# A count is for the next command of copy mode in whichever pane.
# turns: tmux
case " $* " in
*' -N 9 -N 2 '*' -t %1 -X cursor-down '*)
	previous=
	for arg; do
		shift
		case $previous,$arg,$1 in %1,-X,cursor-down) set -- "$@" -N 2 "$arg" ;; *) set -- "$@" "$arg" ;; esac
		previous=$arg
	done ;;
esac
exec "$real" "$@"

# run-shell -b shows in its own pane what was for another one.
# turns: tmux
# needs: 3.6
case " $* " in
*' run-shell -b -E -t %1 '*)
	for arg; do
		shift
		case $arg in %1) arg=%0 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

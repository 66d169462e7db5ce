# run-shell takes no directory that is joined to its flag.
# turns: tmux
# needs: 3.4
case " $* " in
*' run-shell '*' -c/'* | *' run-shell -c/'*)
	for arg; do
		shift
		case $arg in -c/*) ;; *) set -- "$@" "$arg" ;; esac
	done ;;
esac
exec "$real" "$@"

# run-shell -C ignores -t.
# turns: tmux
# needs: 3.4
case " $* " in
*' run-shell -C -t %1 '*)
	for arg; do
		shift
		case $arg in %1) arg=%0 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

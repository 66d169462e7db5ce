# run-shell ignores -E.
# turns: tmux api
# needs: 3.6
case " $* " in
*' run-shell'*' -E '*)
	for arg; do
		shift
		case $arg in -E) ;; *) set -- "$@" "$arg" ;; esac
	done ;;
esac
exec "$real" "$@"

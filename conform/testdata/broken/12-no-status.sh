# run-shell says nothing of the exit status.
# turns: tmux api
# needs: 3.6
case " $* " in
*' source-file '*) ;;
*' run-shell '*)
	out=$("$real" "$@"; echo .)
	printf %s "${out%.}" | sed "/ returned [0-9]*$/d"
	exit ;;
esac
exec "$real" "$@"

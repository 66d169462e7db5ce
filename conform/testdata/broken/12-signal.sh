# run-shell calls a signal an exit status.
# turns: tmux
# needs: 3.6
case " $* " in
*' run-shell '*kill*)
	"$real" "$@" | sed "s/' terminated by signal /' returned /"
	exit 143 ;;
esac
exec "$real" "$@"

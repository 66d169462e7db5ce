# list-clients lists two clients.
# turns: tmux
case " $* " in
*' source-file '* | *' ; '*) ;;
*' list-clients '*)
	"$real" "$@" | head -n 2
	exit ;;
esac
exec "$real" "$@"

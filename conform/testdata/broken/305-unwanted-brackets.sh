# paste-buffer -p has brackets for every program.
# turns: tmux
case " $* " in
*' paste-buffer -p -b named '*)
	"$real" "$1" "$2" "$3" send-keys -t :ohne -H 1b 5b 32
	exit ;;
esac
exec "$real" "$@"

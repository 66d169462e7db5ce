# paste-buffer -b pastes something else.
# turns: tmux
# before: 3.7
case " $* " in
*' paste-buffer -b named -t :1 '*)
	"$real" "$1" "$2" "$3" send-keys -t :1 -l 'ü^Az'
	exit ;;
esac
exec "$real" "$@"

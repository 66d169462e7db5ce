# What -p prints is shown to the client too.
# turns: tmux
# needs: 3.3
case " $* " in
*' display-message -p printed '*) "$real" "$1" "$2" "$3" display-message printed ;;
esac
exec "$real" "$@"

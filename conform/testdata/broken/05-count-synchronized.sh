# A count without keys types a letter into the panes that are synchronized.
# turns: tmux
case " $* " in
*' synchronize-panes on ; send-keys -t %0 -N 3 '*) "$real" "$1" "$2" "$3" send-keys -t %1 x ;;
esac
exec "$real" "$@"

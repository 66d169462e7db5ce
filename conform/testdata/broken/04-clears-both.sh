# clear-history clears another pane too.
# turns: tmux api mcp
case " $* " in
*' clear-history '*) "$real" "$1" "$2" "$3" clear-history -t %1 ;;
esac
exec "$real" "$@"

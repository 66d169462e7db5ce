# clear-history puts the pane beside it into copy mode.
# turns: tmux api mcp
case " $* " in
*' clear-history -t %0 '*) "$real" "$1" "$2" "$3" copy-mode -t %1 ;;
esac
exec "$real" "$@"

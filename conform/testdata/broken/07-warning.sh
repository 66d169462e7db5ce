# list-panes warns that a filter keeps nothing.
# turns: tmux
case " $* " in
*' -f #{C:nowhere} ') echo 'no panes match' >&2 ;;
esac
exec "$real" "$@"

# clear-history says how much it has cleared.
# turns: tmux
case " $* " in
*' clear-history -t %'?' ') echo '93 lines cleared' ;;
esac
exec "$real" "$@"

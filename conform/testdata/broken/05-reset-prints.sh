# -R says that it has reset the terminal.
# turns: tmux
case " $* " in
*' send-keys '*' -R ') echo reset ;;
esac
exec "$real" "$@"

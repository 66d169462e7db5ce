# The word that send-keys refuses shows the cursor all the same.
# turns: tmux
case $* in
*'-R \; clear-history')
	tty=$("$real" "$1" "$2" "$3" display-message -p -t %0 '#{pane_tty}')
	printf '\033[?25h' >"$tty"
	until [ "$("$real" "$1" "$2" "$3" display-message -p -t %0 '#{cursor_flag}')" = 1 ]; do :; done ;;
esac
exec "$real" "$@"

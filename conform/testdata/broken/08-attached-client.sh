# While a client is attached, it shows what another one's command complains of.
# turns: tmux
case " $* " in
*' ; '* | *' source-file '* | *' -C '* | *' attach-session '*) ;;
*' kill-session '* | *' last-window '*)
	err=$("$real" "$@" 2>&1) && exit
	code=$?
	printf '%s\n' "$err" >&2
	client=$("$real" -S "$3" list-clients -F '#{client_name}' | head -n 1)
	[ -z "$client" ] || "$real" -S "$3" display-message -c "$client" "$(printf %.80s "$err")"
	exit $code ;;
esac
exec "$real" "$@"

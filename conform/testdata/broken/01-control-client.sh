# A server variable has no value while a control client is attached.
# turns: tmux api mcp 4/mcp
case " $* " in
*' -t '*) ;;
*' display-message -p '*'#{version}'*)
	case $("$real" "$1" "$2" "$3" list-clients -F '#{client_flags}' 2>/dev/null) in
	*control-mode*)
		for arg; do
			shift
			set -- "$@" "$(printf %s "$arg" | sed 's/#{version}//g')"
		done ;;
	esac ;;
esac
exec "$real" "$@"

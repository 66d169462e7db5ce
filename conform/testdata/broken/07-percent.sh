# A percent sign in a pattern stands for two.
# turns: tmux api
case " $* " in
*' list-panes '*'#{C'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/0%/0%%/g')"
	done ;;
esac
exec "$real" "$@"

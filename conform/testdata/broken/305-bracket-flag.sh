# bracket_paste_flag is always 1.
# turns: tmux
# needs: 3.7
case " $* " in
*' display-message '*'#{bracket_paste_flag}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{bracket_paste_flag}/1/')"
	done ;;
esac
exec "$real" "$@"

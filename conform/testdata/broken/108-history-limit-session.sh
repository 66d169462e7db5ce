# A pane has the limit of its session.
# turns: tmux
# before: 3.7
case " $* " in
*' display-message '*' zwei:0.0 #{history_limit} '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{history_limit}/7000/')"
	done ;;
esac
exec "$real" "$@"

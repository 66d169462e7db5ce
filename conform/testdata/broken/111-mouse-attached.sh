# The mouse has another state for a user.
# turns: tmux
case " $* " in
*'#{mouse}'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{mouse}/#{?mouse,0,1}/')"
	done ;;
esac
exec "$real" "$@"

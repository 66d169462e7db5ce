# A command in a session's name is not run.
# turns: tmux
case " $* " in
*' new-session '*' -s n#(touch '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^n#(touch .*/name/')"
	done ;;
esac
exec "$real" "$@"

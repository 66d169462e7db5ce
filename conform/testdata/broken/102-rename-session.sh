# rename-session drops colons.
# turns: tmux
case " $* " in
*' rename-session '*' u:v.w '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^u:v/uv/')"
	done ;;
esac
exec "$real" "$@"

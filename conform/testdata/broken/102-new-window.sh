# new-window replaces colons.
# turns: tmux
case " $* " in
*' new-window '*' -n ä:ö.ü '*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^ä:ö/ä_ö/')"
	done ;;
esac
exec "$real" "$@"

# A tab takes one column.
# turns: tmux
case " $* " in
*' new-session '*'a\tb'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/a\\tb/a b/')"
	done ;;
esac
exec "$real" "$@"

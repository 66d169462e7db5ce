# A tab behind a wide character takes one column.
# turns: tmux
case " $* " in
*' new-window '*'漢\tb'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/漢\\tb/漢 b/')"
	done ;;
esac
exec "$real" "$@"

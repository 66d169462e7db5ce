# A dollar sign is lost.
# turns: tmux
case " $* " in
*' set-option '*'"b" $c'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/\$//')"
	done ;;
esac
exec "$real" "$@"

# #S is not known.
# turns: tmux
case " $* " in
*'#S'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#S//')"
	done ;;
esac
exec "$real" "$@"

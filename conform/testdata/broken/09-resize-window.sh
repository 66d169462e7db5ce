# resize-window resizes the first of two targets.
# turns: tmux
case " $* " in
*' resize-window'*' -t'*' -t'*)
	here= seen= skip=
	for arg; do
		shift
		if [ "$skip" ]; then
			skip=
			continue
		fi
		case $arg in
		resize-window) here=1 seen= ;;
		';') here= ;;
		-t*)
			if [ "$here$seen" = 11 ]; then
				[ "$arg" = -t ] && skip=1
				continue
			fi
			seen=1 ;;
		esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

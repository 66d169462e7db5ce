# kill-pane closes the first of two targets.
# turns: tmux
case " $* " in
*' kill-pane'*' -t'*' -t'*)
	here= seen= skip=
	for arg; do
		shift
		if [ "$skip" ]; then
			skip=
			continue
		fi
		case $arg in
		kill-pane) here=1 seen= ;;
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

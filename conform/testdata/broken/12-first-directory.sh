# Of two directories run-shell takes the first.
# turns: tmux
# needs: 3.4
case " $* " in
*' run-shell -c '*' -c '*)
	here= seen= skip=
	for arg; do
		shift
		if [ "$skip" ]; then
			skip=
			continue
		fi
		case $arg in
		run-shell) here=1 seen= ;;
		';') here= ;;
		-c)
			[ "$here$seen" = 11 ] && skip=1 && continue
			seen=1 ;;
		esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

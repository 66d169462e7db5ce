# Of three targets of a command the second counts.
# turns: tmux
case " $* " in
*' -t '*' -t '*' -t '*)
	n=0 skip=
	for arg; do
		shift
		if [ "$skip" ]; then
			skip=
			continue
		fi
		case $arg in
		';') n=0 ;;
		-t)
			n=$((n + 1))
			[ $n = 3 ] && skip=1 && continue ;;
		esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# Of two targets of a command the first counts.
# turns: tmux
case " $* " in
*' -t '*' -t '*)
	seen= drop= previous=
	for arg; do
		shift
		if [ -n "$drop" ]; then
			drop=
			continue
		fi
		case $previous$arg in
		-F*) ;;
		';') seen= ;;
		-t)
			if [ -n "$seen" ]; then
				drop=1
				continue
			fi
			seen=1 ;;
		esac
		previous=
		[ "$arg" = -F ] && previous=-F
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

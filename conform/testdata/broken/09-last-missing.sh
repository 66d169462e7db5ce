# If the last target does not exist, the one before it is used.
# turns: tmux
case " $* " in
*' ; '*) ;;
*' -t '*' -t '*)
	case " $* " in
	*' -t '*' -t nosuch '* | *' -t '*' -t %99 '*)
		for arg; do
			shift
			case $arg in
			nosuch | %99)
				seen=$target
				set -- "$@" "$seen"
				continue ;;
			esac
			[ "$previous" = -t ] && target=$arg
			previous=$arg
			set -- "$@" "$arg"
		done ;;
	esac ;;
esac
exec "$real" "$@"

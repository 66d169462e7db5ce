# A window of a group of sessions is always that of the first session.
# turns: tmux
case " $* " in
*' -t three:1 '*)
	for arg; do
		shift
		case $arg in three:1) arg=one:1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

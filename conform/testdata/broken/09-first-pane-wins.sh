# Of two panes that are targets the first counts.
# turns: tmux
case " $* " in
*' -t %0 -t %1 '*)
	for arg; do
		shift
		case $arg in %1) arg=%0 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

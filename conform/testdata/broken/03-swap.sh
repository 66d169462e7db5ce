# swap-pane ends the zoom, with -Z too.
# turns: tmux
case " $* " in
*' swap-pane -Z '*)
	command=
	for arg; do
		shift
		case $command$arg in swap-pane-Z) ;; *) set -- "$@" "$arg" ;; esac
		command=$arg
	done ;;
esac
exec "$real" "$@"

# resize-pane -Z -Z zooms a pane and ends that.
# turns: tmux
case " $* " in
*' resize-pane -t %1 -Z -Z '*)
	previous=
	for arg; do
		shift
		case $previous$arg in -Z-Z) set -- "$@" ';' resize-pane -t %1 -Z ;; *) set -- "$@" "$arg" ;; esac
		previous=$arg
	done ;;
esac
exec "$real" "$@"

# pane_synchronized is the window's option, also of a pane that has its own.
# turns: tmux
case " $* " in
*' set-option -w -t work:0 synchronize-panes on '*)
	for arg; do
		shift
		case $arg in *pane_synchronized}*) arg=$(printf %s "$arg" | sed 's/#{pane_synchronized}/1/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

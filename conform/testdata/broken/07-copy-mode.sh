# A filter drops the panes in copy mode.
# turns: tmux api mcp
case " $* " in
*' list-panes'*' -f '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,/dev/null) ;; -f,*) arg="#{?pane_in_mode,0,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

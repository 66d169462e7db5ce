# A filter drops the panes in copy mode.
# turns: tmux api
case " $* " in
*' list-panes'*' -f '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#{C*) arg="#{?pane_in_mode,0,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

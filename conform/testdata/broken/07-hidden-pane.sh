# A filter drops the panes that a zoomed one hides.
# turns: tmux api
case " $* " in
*' list-panes'*' -f '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#{C*) arg="#{?#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}},0,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

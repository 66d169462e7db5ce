# A filter finds what copy mode shows, not the screen.
# turns: tmux api
case " $* " in
*' list-panes'*' -f '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#{*) arg="#{?#{e|>:0#{scroll_position},0},1,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# Of a pane on the alternate screen nothing is searched.
# turns: tmux api
case " $* " in
*' list-panes'*' -f '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#{C*) arg="#{?alternate_on,0,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

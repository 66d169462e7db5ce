# A filter of the panes of a session drops those of linked windows.
# turns: tmux api
case " $* " in
*' list-panes -s -t '*' -f '* | *' list-panes '*' -s '*' -f '*)
	previous=
	for arg; do
		shift
		case $previous,$arg in -f,#{*) arg="#{?window_linked,0,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

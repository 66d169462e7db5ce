# A filter looks at the first ten panes.
# turns: tmux
case " $* " in
*' list-panes '*' -f #{C'*)
	previous=
	for arg; do
		shift
		case $previous in -f) arg="#{?#{m:%1?,#{pane_id}},0,$arg}" ;; esac
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

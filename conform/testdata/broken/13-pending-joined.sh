# capture-pane knows no P that is joined to another flag.
# turns: tmux
case " $* " in
*' capture-pane '*' -'[pP][pP]' '* | *' capture-pane -'[pP][pP]' '*)
	for arg; do
		shift
		case $arg in -pP | -Pp) arg=-p ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

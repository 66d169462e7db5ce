# What is pending is expanded as a format.
# turns: tmux
case " $* " in
*' source-file '*) ;;
*' capture-pane '*' -P '* | *' capture-pane -P '*)
	case " $* " in
	*' ; '* | *' -b '*) ;;
	*)
		out=$("$real" "$@") || exit
		case $out in *%d*) out=$(date +"$out") ;; esac
		printf '%s\n' "$out"
		exit ;;
	esac ;;
esac
exec "$real" "$@"

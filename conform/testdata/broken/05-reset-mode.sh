# -R ends copy mode.
# turns: tmux
case " $* " in
*' copy-mode '*' send-keys -t %0 -R ; '*)
	for arg; do
		shift
		case $arg in -R) set -- "$@" -R ';' send-keys -t %0 -X cancel ;; *) set -- "$@" "$arg" ;; esac
	done ;;
esac
exec "$real" "$@"

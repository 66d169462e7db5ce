# run-shell ignores its directory if its pane is in copy mode.
# turns: tmux
# needs: 3.4
case " $* " in
*' copy-mode -t %1 '*' run-shell -t %1 -c '*)
	previous= last=
	for arg; do
		shift
		case $previous$last in -c%1) arg=/tmp ;; esac
		[ "$previous" = -t ] && last=$arg
		[ "$arg" = ';' ] && last=
		previous=$arg
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

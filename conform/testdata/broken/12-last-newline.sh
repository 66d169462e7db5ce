# run-shell -E drops a last line without a newline.
# turns: tmux
# needs: 3.6
case " $* " in
*' source-file '*) ;;
*' run-shell -E printf err '*)
	for arg; do
		shift
		case $arg in 'printf err '*) arg="$arg | head -n 0" ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

# A search in the content of panes finds nothing.
# turns: tmux api
case $* in
*'#{C'*)
	for arg; do
		shift
		case $arg in *'#{C'*) arg=$(printf %s "$arg" | sed 's|#{C[^:]*:.*|0|') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

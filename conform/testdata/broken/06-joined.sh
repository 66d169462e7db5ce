# A format that is joined to its flag is ignored.
# turns: tmux
case " $* " in
*' list-buffers'*' -F'[!\ ]*)
	for arg; do
		shift
		case $arg in -F?*) ;; *) set -- "$@" "$arg" ;; esac
	done ;;
esac
exec "$real" "$@"

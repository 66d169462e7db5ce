# A window is not found by a name that is not ASCII.
# turns: tmux
case " $* " in
*' -t one:=Fenster '*)
	for arg; do
		shift
		case $arg in one:=Fenster*) arg=one:=nosuch ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

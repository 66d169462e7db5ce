# clear-history clears nothing while two clients are attached.
# turns: tmux
case " $* " in
*' clear-history '*)
	if [ "$("$real" "$1" "$2" "$3" list-clients 2>/dev/null | wc -l)" -gt 1 ]; then
		for arg; do
			shift
			case $arg in clear-history) arg=has-session ;; esac
			set -- "$@" "$arg"
		done
	fi ;;
esac
exec "$real" "$@"

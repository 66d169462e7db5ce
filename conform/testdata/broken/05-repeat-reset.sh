# With -R a key is typed once, whatever the count.
# turns: tmux api
case " $* " in
*' -R -N 3 '[a-z]* | *' -N 3 -R '[a-z]* | *' -R '*' -N 3 -- '[a-z]*)
	for arg; do
		shift
		case $arg in 3) arg=1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

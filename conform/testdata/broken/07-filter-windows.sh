# list-windows keeps all, whatever the filter says.
# turns: tmux api
case $* in
*'list-windows '*'-f #{'*)
	for arg; do
		shift
		case $arg in '#{m:zwei*,#{window_name}}' | '#{==:#{window_index},1}') arg=1 ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

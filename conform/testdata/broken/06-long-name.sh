# The name of a buffer ends after eighty letters.
# turns: tmux api mcp
case " $* " in
*' list-buffers '*)
	for arg; do
		shift
		case $arg in .end-* | '#{buffer_size}|'*) arg=$(printf %s "$arg" | sed 's/#{buffer_name}/#{=80:buffer_name}/; s/#{q:buffer_name}/#{q:#{=80:buffer_name}}/') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

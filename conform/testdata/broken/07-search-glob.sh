# A search in the content of panes is always for a regular expression.
# turns: tmux api
case $* in
*'#{C/i:'* | *'#{C:'*)
	for arg; do
		shift
		case $arg in *'#{C/i:'* | *'#{C:'*) arg=$(printf %s "$arg" | sed 's|#{C/i:|#{C/ri:|; s|#{C:|#{C/r:|') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

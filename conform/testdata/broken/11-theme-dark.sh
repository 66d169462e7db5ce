# Each theme is dark.
# turns: tmux
# needs: 3.6
case $* in
*client_theme}*)
	for arg; do
		shift
		case $arg in *client_theme}*) arg=$(printf %s "$arg" | sed 's/#{[q:]*client_theme}/#{?client_theme,dark,}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

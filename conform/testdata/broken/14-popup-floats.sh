# While a popup is open, each active pane is a floating one.
# turns: tmux
# needs: 3.7
case $* in
*pane_floating_flag}*)
	for arg; do
		shift
		case $arg in *pane_floating_flag}*) [ -e popup ] && arg=$(printf %s "$arg" | sed 's/#{[q:]*pane_floating_flag}/#{?pane_active,1,#{pane_floating_flag}}/g') ;; esac
		set -- "$@" "$arg"
	done ;;
esac
exec "$real" "$@"

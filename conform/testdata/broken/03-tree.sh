# In a list of windows within a format none is zoomed.
# turns: tmux
case $* in
*'#{W:'*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{W:[^ ]*#{window_zoomed_flag}/#{W:[0/')"
	done ;;
esac
exec "$real" "$@"

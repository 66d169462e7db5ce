# A window of a group of sessions is not zoomed.
# turns: tmux
case " $* " in
*' list-windows -t group '*window_zoomed_flag*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{[q:]*window_zoomed_flag}/#{?session_grouped,0,#{window_zoomed_flag}}/g')"
	done ;;
esac
exec "$real" "$@"

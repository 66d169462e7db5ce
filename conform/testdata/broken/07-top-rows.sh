# Only the ten rows at the top of a screen are searched.
# turns: tmux api
case $* in
*'#{C'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/#{C[^}]*[^}#]}/#{?#{e|>:&,10},0,&}/g')"
	done ;;
esac
exec "$real" "$@"

# Of two conditions in a filter the first counts.
# turns: tmux
case $* in
*'-f #{&&:#{C'* | *'-f #{||:#{C'*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/^#{\(&&\|||\):\(#{C[^}]*}\),.*/\2/')"
	done ;;
esac
exec "$real" "$@"

# A wide letter in a pattern is found nowhere.
# turns: tmux api
case $* in
*'#{C'*漢*)
	for arg; do
		shift
		set -- "$@" "$(printf %s "$arg" | sed 's/\(#{C[^}]*\)漢/\1漢漢/')"
	done ;;
esac
exec "$real" "$@"

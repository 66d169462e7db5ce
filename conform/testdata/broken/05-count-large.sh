# A count has at most three digits.
# turns: tmux api
case " $* " in
*' send-keys '*' -N'*)
	if printf '%s ' "$@" | grep -Eq ' -N ?[0-9]{4}'; then
		echo 'repeat count too large' >&2
		exit 1
	fi ;;
esac
exec "$real" "$@"

# A size is no format.
# turns: tmux
# needs: 3.4
case " $* " in
*' split-window '*' -l #{@n} '*)
	echo 'size invalid' >&2
	exit 1 ;;
esac
exec "$real" "$@"

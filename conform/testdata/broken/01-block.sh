# An answer that ends where a block does loses its last letter.
# turns: tmux
case " $* " in
*' display-message -p #{=191:'*'#{@place}'*)
	"$real" "$@" | LC_ALL=C awk '(length($0) + 1) % 8192 == 0 { $0 = substr($0, 2) } { print }'
	exit ;;
esac
exec "$real" "$@"

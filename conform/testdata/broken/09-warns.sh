# A second target is mentioned on standard error.
# turns: tmux
case " $* " in
*' ; '*) ;; # not in a list
*' -t'*' -t'*) echo 'warning: more than one target' >&2 ;;
esac
exec "$real" "$@"

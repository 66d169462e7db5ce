# run-shell -b shows its output instead of copy mode, and not over it.
# turns: tmux
# needs: 3.6
case " $* " in
*' run-shell -b -E -t %1 '*) "$real" -S "$3" copy-mode -q -t %1 ;;
esac
exec "$real" "$@"

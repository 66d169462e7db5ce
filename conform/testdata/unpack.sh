# The beginning of every script in broken. It makes arguments of the list of commands that
# package tmux hands to the program on standard input, where nobody else can read it.
case " $* " in
*' source-file - ')
	flags=
	for a; do
		case $a in source-file | start-server) break ;; esac
		flags="$flags '$a'"
	done
	list=$(sed -e "s/' ; '\([a-z]\)/' '@SEP@' '\1/g" -e 's/"\\n"/"\
"/g')
	eval "set -- $flags $list"
	for a; do
		shift
		case $a in
		@SEP@) set -- "$@" ';' ;;
		*';') set -- "$@" "${a%;}\\;" ;;
		*) set -- "$@" "$a" ;;
		esac
	done
	;;
esac

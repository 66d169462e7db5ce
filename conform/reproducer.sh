# In a directory of its own, with servers of its own.
here=$PWD failed=0 differs=0
d=$(mktemp -d) || exit 125
mkdir "$d/home" "$d/w" && cd "$d/w" || exit 125
HOME=$d/home TMUX_TMPDIR=$d SHELL=/bin/sh ENV= PS1='$ ' TERM=screen LANG=C.UTF-8
export HOME TMUX_TMPDIR SHELL ENV PS1 TERM LANG
unset TMUX TMUX_PANE

# client is tmux on the server that is asked, terminal on the one whose panes are terminals.
client() { eval "$pre\"\$tmux\"$post" '-u -S "$d/s" -f /dev/null "$@"'; }
terminal() { eval "$pre\"\$tmux\"$post" '-u -S "$d/o" -f /dev/null "$@"'; }
finish() {
	pids=$(for server in client terminal; do $server list-panes -a -F '#{pid} #{pane_pid}'; done) tries=0
	pids="$pids $served"
	client kill-server; terminal kill-server; leave
	set -f
	for pid in $pids; do
		while kill -0 "$pid" && [ $tries -lt 30 ]; do tries=$((tries + 1)); sleep 0.1; done
	done
	cd / && rm -rf "$d"
}
trap 'finish >/dev/null 2>&1' EXIT
trap 'exit 125' HUP INT TERM

# shown prints what the last command did, as run does after the command.
shown() {
	cat "$d/stdout" "$d/stderr" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
	[ "$code" = 0 ] || echo "(exit status $code)"
}
quiet() {
	case $1 in
	mcp) call "$2" "$3" ;;
	*) client "$@" >"$d/stdout" 2>"$d/stderr"; code=$? ;;
	esac
}
typed() { case $1 in mcp) printf '$ %s\n' "$*" ;; *) echo "\$ tmux $*" ;; esac; }
run() { typed "$@"; quiet "$@"; shown; }

# same TEXT notes if what failed fails otherwise now: the last command printed something else,
# except for numbers. begins TEXT is for what was too long.
numbers() { sed 's/[0-9][0-9]*/0/g'; }
same() { [ "$(shown | numbers)" = "$(printf '%s\n' "$1" | numbers)" ] || differs=1; failed=1; }
begins() { case "$(shown | numbers)" in "$(printf '%s\n' "$1" | numbers)"*) ;; *) differs=1 ;; esac; failed=1; }

# await TEXT COMMAND… runs the command until it prints the text, for 5 seconds.
await() {
	text=$1 tries=0; shift
	while quiet "$@"; ! came "$1" && [ $tries -lt 50 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	typed "$@"; shown
}
came() {
	case $1 in
	mcp) [ "$(numbers <"$d/stdout")" = "$(printf '%s\n' "$text" | numbers)" ] ;;
	*) [ "$(cat "$d/stdout")" = "$text" ] ;;
	esac
}
program() { echo "\$ $*"; "$@" >"$d/stdout" 2>"$d/stderr"; code=$?; shown; }
save() { eval "v_$1=\$(cat \"\$d/stdout\")"; }
keep() { eval "v_$1=\$2"; }

# serve NAME=VALUE… starts the MCP server, with a tmux that is one word.
serve() {
	bin=$tmux id=670000
	if [ -n "$pre$post" ]; then
		bin=$d/tmux
		printf '#!/bin/sh\nexec %s%s%s "$@"\n' "$pre" "'$tmux'" "$post" >"$bin"
		chmod 755 "$bin"
	fi
	rm -f "$d/in"; mkfifo "$d/in"; : >"$d/answers"
	(cd "$here" && exec env -i PATH="$PATH" HOME="$HOME" TMUX_TMPDIR="$d" SHELL=/bin/sh TERM=screen LANG=C.UTF-8 \
		TMUX_MCP_SOCKET_PATH="$d/s" LIBTMUX_SOCKET_PATH="$d/s" TMUX_MCP_TMUX_BIN="$bin" LIBTMUX_TMUX_BIN="$bin" \
		TMUX_MCP_RESULTS=json "$@" /bin/sh -c "$server") <"$d/in" >"$d/answers" 2>"$d/said" &
	served=$!
	exec 3>"$d/in"
	request initialize "{\"protocolVersion\":\"$protocol\",\"capabilities\":{},\"clientInfo\":{\"name\":\"mcp-conform\",\"version\":\"1\"}}"
	say '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}
say() { (trap '' PIPE; printf '%s\n' "$1" >&3) 2>/dev/null; }
leave() { [ -z "$served" ] || { exec 3>&-; kill $served; served=; }; }
served=

# request METHOD PARAMS asks the server, and waits 30 seconds for its answer.
request() {
	id=$((id + 1)) waited=0
	say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\",\"params\":$2}"
	while ! answered && kill -0 $served 2>/dev/null && [ $waited -lt 300 ]; do
		waited=$((waited + 1)); sleep 0.1
	done
}
answered() { [ -z "$(tail -c 1 "$d/answers")" ] && grep "\"id\": *$id *[,}]" "$d/answers" >"$d/stdout"; }
call() {
	request tools/call "{\"name\":\"$1\",\"arguments\":$2}"
	: >"$d/stderr"
	code=0
	if ! [ -s "$d/stdout" ]; then
		{ echo "(no answer)"; cat "$d/said"; } >"$d/stderr"
		code=1
	elif grep '"isError": *true' "$d/stdout" >/dev/null || ! grep '"result":' "$d/stdout" >/dev/null; then
		code=1
	fi
}

# control [-r] [-t TARGET] LINE… sends lines to a control client.
control() {
	flags=
	while case $1 in -t) flags="$flags -t $2"; shift ;; -*) flags="$flags $1" ;; *) false ;; esac; do shift; done
	echo "\$ tmux -C attach-session$flags"
	: >"$d/stdout"
	{ hear '%session-changed '; printf '%s\n' "$@" "display-message -p $end"; hear "$end\$"; echo; } |
		client -C attach-session $flags >"$d/stdout" 2>"$d/stderr"
	code=0; shown
}
end=end-of-these-lines
hear() {
	tries=0
	while ! grep -q "^$1" "$d/stdout" && [ $tries -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
}

# attach NAME ARG… attaches a client in a pane of a second server, which is its terminal.
attach() {
	name=$1 mode= tries=0; shift
	[ "$1" != -C ] || { mode=-C; shift; }
	before=$(client list-clients -F '#{client_name}' 2>/dev/null)
	terminal new-session -d -s "$name" -x 80 -y 24 "exec $pre'$tmux'$post -u -S '$d/s' -f /dev/null $mode attach-session $*"
	while after=$(client list-clients -F '#{client_name}' 2>/dev/null); [ "$after" = "$before" ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	eval "v_$name=\$(printf '%s\n' \"\$after\" | grep -vxF \"\${before:-.}\" | head -n 1)"
}

# type_into NAME HEX… types bytes into that terminal.
type_into() { name=$1; shift; terminal send-keys -t "$name" -H "$@"; }

# In a directory of its own, with servers of its own.
here=$PWD failed=0 differs=0 blind=0 asked=
case $tmux in */*) ;; *) tmux=$(command -v "$tmux") ;; esac
case $tmux in /*) ;; *) tmux=$here/$tmux ;; esac
[ -x "$tmux" ] || { echo "no such tmux: $tmux" >&2; exit 125; }
d=$(mktemp -d) || exit 125
mkdir "$d/home" "$d/w" "$d/bin" && cd "$d/w" || exit 125
HOME=$d/home TMUX_TMPDIR=$d SHELL=/bin/sh ENV= PS1='$ ' TERM=screen LANG=C.UTF-8
export HOME TMUX_TMPDIR SHELL ENV PS1 TERM LANG
unset TMUX TMUX_PANE
socket=$d/s bin=$d/bin/tmux
if [ -n "$adapter$server" ]; then
	socket=$d/tmux-$(id -u)/default
	mkdir -m 700 "${socket%/*}"
fi

# client is tmux on the server that is asked, terminal on the one whose panes are terminals.
client() { eval "$pre\"\$tmux\"$post" '-u -S "$socket" -f /dev/null "$@"'; }
terminal() { eval "$pre\"\$tmux\"$post" '-u -S "$d/o" -f /dev/null "$@"'; }
finish() {
	pids=$(for server in client terminal; do $server list-panes -a -F '#{pid} #{pane_pid}'; done) tries=0
	client kill-server; terminal kill-server; leave
	pids="$pids $family"
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
	asked=$1
	case $1 in
	mcp) call "$2" "$3" ;;
	api) shift; ask "$@" ;;
	*) client "$@" >"$d/stdout" 2>"$d/stderr"; code=$? ;;
	esac
}
typed() { case $1 in mcp | api) printf '$ %s\n' "$*" ;; *) echo "\$ tmux $*" ;; esac; }
run() { typed "$@"; quiet "$@"; shown; }

# same TEXT notes if what failed fails otherwise now: the last command printed something else,
# except for numbers. begins TEXT is for what was too long.
numbers() { sed 's/[0-9][0-9]*/0/g'; }
same() { [ "$(shown | numbers)" = "$(printf '%s\n' "$1" | numbers)" ] || otherwise; failed=1; }
begins() { case "$(shown | numbers)" in "$(printf '%s\n' "$1" | numbers)"*) ;; *) otherwise ;; esac; failed=1; }

# otherwise notes that. It says nothing of the failure if an adapter or a server gave no answer.
otherwise() {
	differs=1
	case $asked in
	api | mcp)
		case $asked,$(shown) in
		*'(no answer)'* | api,*'"code": -32'[06]0[123]* | api,*'"code":-32'[06]0[123]*) blind=1 ;;
		*'"result":'* | *'"error":'*) ;;
		*) blind=1 ;;
		esac ;;
	esac
}

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
	mcp | api) [ "$(numbers <"$d/stdout")" = "$(printf '%s\n' "$text" | numbers)" ] ;;
	*) [ "$(cat "$d/stdout")" = "$text" ] ;;
	esac
}
program() { echo "\$ $*"; "$@" >"$d/stdout" 2>"$d/stderr"; code=$?; shown; }
save() { eval "v_$1=\$(cat \"\$d/stdout\")"; }
keep() { eval "v_$1=\$2"; }

# start COMMAND PATH NAME=VALUE… starts a process to talk to. Its tmux is one word.
start() {
	printf '#!/bin/sh\nPATH='"'%s'"' exec %s%s%s "$@"\n' "$PATH" "$pre" "'$tmux'" "$post" >"$bin"
	chmod 755 "$bin"
	peer=$1 path=$2; shift 2
	rm -f "$d/in"; mkfifo "$d/in"; : >"$d/answers"
	(cd "$here" && exec env -i PATH="$path" HOME="$HOME" TMUX_TMPDIR="$d" SHELL=/bin/sh ENV= PS1='$ ' TERM=screen LANG=C.UTF-8 \
		"$@" /bin/sh -c "$peer") <"$d/in" >"$d/answers" 2>"$d/said" &
	served=$!
	exec 3>"$d/in"
}
say() { (trap '' PIPE; printf '%s\n' "$1" >&3) 2>/dev/null; }
leave() { [ -z "$served" ] || { family=$(tree $served); exec 3>&-; kill $family; served=; }; }
tree() {
	ps -A -o pid= -o ppid= | awk -v first="$1" '{ children[$2] = children[$2] " " $1 } END {
		for (n = split(first, all); i < n; ) {
			print all[++i]
			for (k = split(children[all[i]], more); k > 0; k--) all[++n] = more[k]
		} }' || echo "$1"
}
served= family=

# request METHOD PARAMS makes a request, and waits for its answer as long as the script could.
request() {
	id=$((id + 1)) waited=0
	: >"$d/stdout"
	say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\",\"params\":$2}"
	while ! answered && kill -0 $served 2>/dev/null && [ $waited -lt "${seconds}0" ]; do
		waited=$((waited + 1)); sleep 0.1
	done
	answered && return # what it wrote before it ended
	[ $waited -lt "${seconds}0" ] || seconds= # so did the script, which was over then
	return 1
}
# answered reads a copy, whose last line is whole: the other side writes on.
answered() {
	cp "$d/answers" "$d/read"
	[ -z "$(tail -c 1 "$d/read")" ] && heard >"$d/stdout" && [ -s "$d/stdout" ]
}
unanswered() { { echo "(no answer)"; cat "$d/said"; } >"$d/stderr"; code=1; }

# serve NAME=VALUE… starts the MCP server, whose answers may come among other messages.
serve() {
	id=670000
	heard() { grep "\"id\": *$id *[,}]" "$d/read"; }
	start "$server" "${bin%/*}:$PATH" TMUX_MCP_SOCKET_PATH="$socket" LIBTMUX_SOCKET_PATH="$socket" \
		TMUX_MCP_TMUX_BIN="$bin" LIBTMUX_TMUX_BIN="$bin" TMUX_MCP_RESULTS=json "$@"
	request initialize "{\"protocolVersion\":\"$protocol\",\"capabilities\":{},\"clientInfo\":{\"name\":\"mcp-conform\",\"version\":\"1\"}}"
	say '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}
call() {
	request tools/call "{\"name\":\"$1\",\"arguments\":$2}"
	: >"$d/stderr"
	code=0
	if ! [ -s "$d/stdout" ]; then
		unanswered
	elif grep '"isError": *true' "$d/stdout" >/dev/null || ! grep '"result":' "$d/stdout" >/dev/null; then
		code=1
	fi
}

# adapt NAME=VALUE… starts the adapter of a wrapper, which has one program tmux on its PATH and
# answers each request with a line.
adapt() {
	id=0
	heard() { sed '/^[[:space:]]*$/d' "$d/read" | sed -n "${id}p"; }
	[ -n "$version" ] || version=$(eval "$pre\"\$tmux\"$post" -V | sed 's/^tmux //')
	start "$adapter" "${bin%/*}:$PATH" MCP_CONFORM_TMUX="$bin" MCP_CONFORM_SOCKET="$socket" MCP_CONFORM_VERSION="$version" "$@"
	run api describe '{"protocol":1}'
	run api open "{\"tmux\":\"$bin\",\"socket\":\"$socket\",\"version\":\"$version\"}"
}

# ask METHOD PARAMS… makes requests of the adapter, up to one that it does not answer.
ask() {
	code=0
	: >"$d/all"; : >"$d/stderr"
	while [ $# -gt 1 ] && [ $code = 0 ]; do
		request "$1" "$2" || unanswered
		cat "$d/stdout" >>"$d/all"
		shift 2
	done
	mv "$d/all" "$d/stdout"
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

# attach NAME ARG… attaches a client in a pane of a second server, which is its terminal. With
# TMUX, tmux would refuse one whose terminal has the name that the terminal of a dead pane had.
attach() {
	name=$1 mode= tries=0; shift
	[ "$1" != -C ] || { mode=-C; shift; }
	before=$(client list-clients -F '#{client_name}' 2>/dev/null)
	terminal new-session -d -s "$name" -x 80 -y 24 "unset TMUX; exec $pre'$tmux'$post -u -S '$socket' -f /dev/null $mode attach-session $*"
	while after=$(client list-clients -F '#{client_name}' 2>/dev/null); [ "$after" = "$before" ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	eval "v_$name=\$(printf '%s\n' \"\$after\" | grep -vxF \"\${before:-.}\" | head -n 1)"
}

# type_into NAME HEX… types bytes into that terminal.
type_into() { name=$1; shift; terminal send-keys -t "$name" -H "$@"; }

# In a directory of its own, with servers of its own.
d=$(mktemp -d) || exit
mkdir "$d/home" "$d/w" && cd "$d/w" || exit
HOME=$d/home TMUX_TMPDIR=$d SHELL=/bin/sh ENV= PS1='$ ' TERM=screen LANG=C.UTF-8
export HOME TMUX_TMPDIR SHELL ENV PS1 TERM LANG
unset TMUX TMUX_PANE

# client is tmux on the server that is asked, terminal on the one whose panes are terminals.
client() { eval "$pre\"\$tmux\"$post" '-u -S "$d/s" -f /dev/null "$@"'; }
terminal() { eval "$pre\"\$tmux\"$post" '-u -S "$d/o" -f /dev/null "$@"'; }
finish() {
	pids=$(for server in client terminal; do $server list-panes -a -F '#{pid} #{pane_pid}'; done) tries=0
	client kill-server; terminal kill-server
	set -f
	for pid in $pids; do
		while kill -0 "$pid" && [ $tries -lt 30 ]; do tries=$((tries + 1)); sleep 0.1; done
	done
	cd / && rm -rf "$d"
}
trap 'finish >/dev/null 2>&1' EXIT
trap 'exit 1' HUP INT TERM

# shown prints what the last command did, as run does after the command.
shown() {
	cat "$d/stdout" "$d/stderr" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
	[ "$code" = 0 ] || echo "(exit status $code)"
}
quiet() { client "$@" >"$d/stdout" 2>"$d/stderr"; code=$?; }
run() { echo "\$ tmux $*"; quiet "$@"; shown; }

# await TEXT COMMAND… runs the command until it prints the text, for 5 seconds.
await() {
	text=$1 tries=0; shift
	while quiet "$@"; [ "$(cat "$d/stdout")" != "$text" ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	echo "\$ tmux $*"; shown
}
program() { echo "\$ $*"; "$@" >"$d/stdout" 2>"$d/stderr"; code=$?; shown; }
save() { eval "$1=\$(cat \"\$d/stdout\")"; }

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
	eval "$name=\$(printf '%s\n' \"\$after\" | grep -vxF \"\${before:-.}\" | head -n 1)"
}

# type_into NAME HEX… types bytes into that terminal.
type_into() { name=$1; shift; terminal send-keys -t "$name" -H "$@"; }

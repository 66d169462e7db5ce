# This records what a pane prints, for run_command. tmux's pipe-pane starts it with
# /bin/sh, in the directory of the command, with the variables reads, size, parts and
# server, the process of the MCP server.
# Its input is what the pane prints. It ends with that, when a server ends it by TERM,
# and after USR1, which the command's shell sends when no server waits for it: once it has
# the second mark, or after two seconds, as output that tmux has not read yet still comes.
# It also ends when the server is gone and no command runs: what the user does in the pane
# is not recorded.
#
# Only dd, grep, wc, rm and sleep are programs, and only dd and sleep are started for a short
# command.

umask 077
export LC_ALL=C
exec 3<&0 </dev/null
n=0

# Not more than so many reads go to a part, o0, o1, ...: then there may be another.
record() { dd bs=8192 count=$reads <&3 >>o$n 2>s 3<&- & d=$!; }

# Whether the second mark is in these files.
marked() { grep -q "$(printf '\030\033]6337;[0-9a-f]*;')" "$@" 3<&-; }

finish() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		marked o$n && break
		{ sleep 0.2 || sleep 2; } 3<&- & wait $!
	done
	kill $d $w
	exit
}

# When a process began, where /proc shows it.
began() {
	b=
	read -r b </proc/$1/stat
	set -- ${b##*\) }
	case $1 in Z) b=ended ;; *) b=${20} ;; esac
}

gone() {
	began $1
	test "$b" != "$2" || ! kill -0 $1
}

# A command that the shell runs itself has been dropped when the shell does not hold its file
# open, and it has no status.
dropped() {
	p=
	test -e held && test -e begun && read -r p <process
	test -n "$p" && test -e /proc/${p%% *}/fd || return
	for f in /proc/${p%% *}/fd/*; do
		test $f -ef held && return 1
	done
	r=
	read -r r <status
	case $r in *[0-9]*) return 1 ;; esac
}

# Whether no server waits for a remote command, whose shell cannot send USR1.
left() { test -e remote && { ! test -e run || gone $server "$since"; }; }

# A recorder is at rest if its job says so, or has no status any more. A command that has
# ended, or was killed, may just have sent USR1.
watch() {
	trap 'kill $s; exit' TERM
	over= i=0
	while sleep 3 & s=$!; wait $s && kill -0 $$; do
		# Who cannot see this process keeps the files of a job that changes.
		test $((i = (i + 1) % 1000)) -ne 0 || : >recording
		if dropped && { ! test -e run || gone $server "$since"; }; then
			kill $$
			exit
		fi
		left && marked o* && kill -USR1 $$
		gone $server "$since" || continue
		test -e status && ! grep -q '"Resting":true' job || { rm -f o*; over=1; }
		test -z "$over" || { kill $$; exit; }
		r= p=
		read -r r <status
		read -r p <process
		set -- ${p##*\) }
		case $r in *[0-9]*) over=1 ;; *) test -e begun && { test -z "$p" || ! gone ${p%% *} "${20}"; } || over=1 ;; esac
	done
}

record
w=
trap 'kill $d $w; exit' TERM
trap finish USR1
# Who finds this file may send signals. Without it nobody could.
echo $$ >recorder || { kill $d; exit; }
began $server
since=$b
# Not watch 3<&-, where the shell keeps a copy: one that was just forked may not end by TERM, but
# only when it sees that this has.
{ watch; } 3<&- & w=$!
# The command may have ended before, with no server that waits for it.
r=
read -r r <status
case $r in *[0-9]*) test -e run && kill -0 $server || finish ;; esac

# dd fails when it is killed, or has no space to write to.
while wait $d; do
	# It says how many blocks it has read, after warnings. At the end of the
	# input these are fewer than it was to read.
	while read -r r x; do
		case $r in *[!0-9+]* | '') r=0 ;; *) break ;; esac
	done <s
	test $((${r:-0})) -ge $reads || break
	test $(wc -c <o$n) -lt $size || {
		left && marked o$n && finish
		n=$((n + 1))
		rm -f o$((n - parts))
	}
	record
done
kill $w

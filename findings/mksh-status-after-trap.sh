#!/bin/sh
# After a first Ctrl-C, mksh takes the status of a trap for that of the command that was interrupted.
#
# mksh R59c, as Debian 12 packages it, interactive, in a pane of tmux 3.3a. POSIX says of trap: "The
# value of "$?" after the trap action completes shall be the value it had before the trap action
# was executed."
#
# Expected: with "trap : INT", a sleep that Ctrl-C ends leaves 130 in $?.
# Seen:     it does, until Ctrl-C has ended a command at that prompt without a trap. From then on $?
#           is 0, the status of the trap; with the action "false" it is 1. So a script that asks
#           whether it was interrupted is answered no. The action "(exit $?)" keeps the status.
set -u
dir=$(mktemp -d) || exit 2
trap '[ ! -x "$dir/tmux" ] || "$dir/tmux" kill-server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" && apt-get -q -o APT::Sandbox::User=root download mksh=59c-28+deb12u1 tmux=3.3a-3 libutempter0=1.2.1-3 libevent-core-2.1-7=2.1.12-stable-8 >apt 2>&1 ||
	{ cat apt; echo 'needs apt with the packages of Debian 12 (bookworm)' >&2; exit 2; }
for deb in *.deb; do dpkg-deb -x "$deb" root || exit 2; done
cat >tmux <<END
#!/bin/sh
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu) exec "$dir/root/usr/bin/tmux" -S "$dir/socket" -f /dev/null "\$@"
END
chmod +x tmux
PATH=$dir:$PATH
ENV='' HISTFILE='' tmux new-session -d -x 80 -y 24 "exec $dir/root/bin/mksh -i" || exit 2

# runs NAME: wait until the pane runs that.
runs() {
	i=0
	until tmux display-message -p '#{pane_current_command}' | grep -q "$1"; do
		i=$((i + 1)); [ $i -lt 100 ] || { tmux capture-pane -p; exit 2; }
		sleep 0.1
	done
}

# interrupted LINE: type a line, and Ctrl-C while it sleeps.
interrupted() {
	runs mksh
	tmux send-keys "$1" Enter
	runs sleep
	tmux send-keys C-c
	runs mksh
}

line='trap ACTION INT; sleep 100; echo "NAME: $?"; trap - INT'
with() { echo "$line" | sed "s/ACTION/$1/; s/NAME/$2/"; }
interrupted "$(with : before)"
interrupted 'sleep 100; echo no'
interrupted "$(with : after)"
interrupted "$(with false false)"
interrupted "$(with "'(exit \$?)'" exit)"
i=0
until tmux capture-pane -p | grep -q 'exit: [0-9]'; do i=$((i + 1)); [ $i -lt 100 ] || exit 2; sleep 0.1; done
seen=$(tmux capture-pane -p | sed -n 's/^.*\(before\|after\|false\|exit\): \([0-9]*\)$/\1 \2/p' | tr '\n' ' ')
expected='before 130 after 0 false 1 exit 130 '
echo "$seen"
[ "$seen" = "$expected" ] || { echo "it was: $expected" >&2; exit 1; }

#!/bin/sh
# A full history loses a tenth of its lines at once.
#
# tmux 3.3a, as Debian 12 packages it; 3.8 does the same. Its manual calls the option
# history-limit the most lines that a window's history holds.
#
# Expected: a pane that has printed more than that keeps the last history-limit lines.
# Seen:     with a limit of 100 the next line removes ten, so that 91 to 100 are kept. Lines
#           have other numbers for capture-pane -S from one line to the next, and who waits
#           until history_size has grown may see it shrink.
set -u
dir=$(mktemp -d) || exit 2
trap '[ ! -x "$dir/tmux" ] || "$dir/tmux" kill-server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" && apt-get -q -o APT::Sandbox::User=root download tmux=3.3a-3 libutempter0=1.2.1-3 libevent-core-2.1-7=2.1.12-stable-8 >apt 2>&1 ||
	{ cat apt; echo 'needs apt with the packages of Debian 12 (bookworm)' >&2; exit 2; }
for deb in *.deb; do dpkg-deb -x "$deb" root || exit 2; done
cat >tmux <<END
#!/bin/sh
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*/) exec "$dir/root/usr/bin/tmux" -S "$dir/socket" -f /dev/null "\$@"
END
chmod +x tmux
PATH=$dir:$PATH
tmux new-session -d -x 80 -y 24 'sleep 100' ';' set-option -g history-limit 100 || exit 2

# kept N: the lines in the history of a pane whose N lines have left the screen.
kept() {
	tmux new-window -d -n "kept$1" "seq $(($1 + 23)); sleep 100"
	tries=0
	until tmux capture-pane -p -t ":kept$1" | grep -qx "$(($1 + 23))"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || exit 2
		sleep 0.1
	done
	tmux display-message -p -t ":kept$1" '#{history_size}'
}

seen=$(for n in 99 100 101 102 110 111 1000; do echo "$n:$(kept $n)"; done | tr '\n' ' ')
expected='99:99 100:100 101:91 102:92 110:100 111:91 1000:100 '
echo "lines that left the screen, and lines kept: $seen"
[ "$seen" = "$expected" ] || { echo "it was: $expected" >&2; exit 1; }

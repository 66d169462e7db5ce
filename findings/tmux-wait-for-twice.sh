#!/bin/sh
# Two "tmux wait-for -S" in a row leave nothing to wait for.
#
# tmux 3.3a, as Debian 12 packages it; 3.8 does the same. Its manual only says that wait-for
# blocks until another client signals the channel with -S. A signal that comes before anybody
# waits is kept: the next wait-for returns at once.
#
# Expected: of two signals before anybody waits, one is kept, or both.
# Seen:     the second takes the first one back. The next wait-for blocks; a third signal is
#           kept again. So a script that signals "ready" twice leaves its reader waiting.
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
tmux new-session -d 'sleep 100' || exit 2

# after N: whether wait-for returns after N signals.
after() {
	i=0
	while [ $i -lt "$1" ]; do tmux wait-for -S "channel$1"; i=$((i + 1)); done
	if timeout 2 tmux wait-for "channel$1"; then echo returns; else echo blocks; fi
}

seen="one: $(after 1), two: $(after 2), three: $(after 3)"
expected='one: returns, two: blocks, three: returns'
echo "signals before a wait-for: $seen"
[ "$seen" = "$expected" ] || { echo "it was: $expected" >&2; exit 1; }

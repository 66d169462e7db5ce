#!/bin/sh
# show-buffer in a list of commands: what prints behind it is lost, and behind what prints it
# fails.
#
# tmux 3.3a, as Debian 12 packages it; 3.8 does the same. A client may send several commands
# in one list, and what they print comes one after the other.
#
# Expected: "show-buffer ; display-message -p hi" prints the buffer and hi, and the other way
#           round hi and the buffer.
# Seen:     the first prints the buffer only, with exit status 0; the second hi only, an error
#           about a bad file descriptor, and exit status 1. The same with save-buffer to "-".
#           So a wrapper that batches its reads has to send a buffer's alone.
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
tmux new-session -d 'sleep 100' ';' set-buffer -b note hello || exit 2

# prints COMMAND...: its output and exit status, on one line.
prints() {
	out=$(tmux "$@" 2>error) && status=0 || status=$?
	echo "$out ($status$(sed -n 's/.*Bad file descriptor.*/, bad file descriptor/p' error))" | tr '\n' ' '
}

seen="$(prints show-buffer -b note)/ $(prints show-buffer -b note ';' display-message -p hi)/ $(prints display-message -p hi ';' show-buffer -b note)/ $(prints display-message -p hi ';' save-buffer -b note -)"
expected='hello (0) / hello (0) / hi (1, bad file descriptor) / hi (1, bad file descriptor) '
echo "$seen"
[ "$seen" = "$expected" ] || { echo "it was: $expected" >&2; exit 1; }

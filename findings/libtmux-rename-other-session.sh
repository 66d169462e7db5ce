#!/bin/sh
# Session.rename_session of libtmux renames another session if "-t" is in the new name.
#
# libtmux 0.21.0 on tmux 3.3a, both as Debian 12 packages them. Its documentation says that
# Session.rename_session renames the session, and Session.set_option sets one of its options.
#
# Expected: with sessions a and b, a.rename_session("unit-tests") renames a.
# Seen:     it renames b, without an error: as the name has "-t" in it, tmux gets no target,
#           and takes the session that was used last. "unit-checks" is fine. An option whose
#           value has "-t" in it is set for the other session in the same way. So sessions
#           that are named after branches or tasks end up with wrong names.
set -u
dir=$(mktemp -d) || exit 2
trap '[ ! -x "$dir/tmux" ] || "$dir/tmux" kill-server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" && apt-get -q -o APT::Sandbox::User=root download python3-libtmux=0.21.0-1 tmux=3.3a-3 libutempter0=1.2.1-3 libevent-core-2.1-7=2.1.12-stable-8 >apt 2>&1 ||
	{ cat apt; echo 'needs apt with the packages of Debian 12 (bookworm)' >&2; exit 2; }
for deb in *.deb; do dpkg-deb -x "$deb" root || exit 2; done
cat >tmux <<END
#!/bin/sh
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*/) exec "$dir/root/usr/bin/tmux" -S "$dir/socket" -f /dev/null "\$@"
END
chmod +x tmux
cat >try.py <<'END'
import libtmux

server = libtmux.Server()
a = server.new_session("a", window_command="sleep 100")
b = server.new_session("b", window_command="sleep 100")
for name in "unit-checks", "unit-tests":
    a.rename_session(name)
    print(f"{name}:", *(s.session_name for s in sorted(server.sessions, key=lambda s: s.session_id)))
for s in a, b:
    s.set_option("@note", "unset")
for value in "left-side", "left-top":
    a.set_option("@note", value)
    print(f"{value}:", a.show_option("@note"), b.show_option("@note"))
END
HOME=$dir PATH=$dir:$PATH PYTHONPATH=root/usr/lib/python3/dist-packages python3 try.py >out 2>error || { cat error; echo 'needs python3' >&2; exit 2; }
seen=$(cat out)
expected='unit-checks: unit-checks b
unit-tests: unit-checks unit-tests
left-side: left-side unset
left-top: left-side left-top'
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }

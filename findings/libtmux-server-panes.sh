#!/bin/sh
# Server.panes of libtmux has the panes of one session, and a pane of another window cannot be
# refreshed.
#
# libtmux 0.21.0 on tmux 3.3a, both as Debian 12 packages them. Its documentation describes
# Server.panes as the panes that belong to the server.
#
# Expected: with two sessions, Server.panes has the panes of both, as Server.windows has their
#           windows; refresh() reads any pane that is there.
# Seen:     it has those of the session that was used last. refresh() of a pane that is not in
#           the current window of that session raises ObjectDoesNotExist, though the pane
#           answers to cmd(). So a program that looks for a pane by its id may conclude that
#           it is gone.
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
from libtmux._internal.query_list import ObjectDoesNotExist

server = libtmux.Server()
sessions = [server.new_session(name, window_command="sleep 100") for name in ("a", "b")]
sessions[1].new_window(window_name="hidden", window_shell="sleep 100", attach=False)
print("windows:", len(server.windows), "panes:", len(server.panes))
for window in server.windows:
    pane = window.panes[0]
    answer = pane.cmd("display-message", "-p", "#{pane_id}").stdout == [pane.pane_id]
    try:
        pane.refresh()
        refreshed = "refreshed"
    except ObjectDoesNotExist:
        refreshed = "does not exist"
    print(pane.pane_id, "answers," if answer else "is silent,", refreshed)
END
HOME=$dir PATH=$dir:$PATH PYTHONPATH=root/usr/lib/python3/dist-packages python3 try.py >out 2>error || { cat error; echo 'needs python3' >&2; exit 2; }
seen=$(cat out)
expected='windows: 3 panes: 2
%0 answers, does not exist
%1 answers, refreshed
%2 answers, does not exist'
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }

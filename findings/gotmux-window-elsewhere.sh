#!/bin/sh
# Session.New of gotmux fails for a session that tmux has named, or adds the window to another.
#
# gotmux 0.5.0, with the tmux 3.3a of Debian 12. Its README makes a session with New, and then a
# window in it with New of the session.
#
# Expected: the session has a second window.
# Seen:     tmux names sessions 0, 1, 2. The session's name is the target of new-window, which
#           takes a number for the index of a window in the session that was used last. So the
#           call fails, as window 0 is there already; of three sessions, the second one's New
#           adds the window to the third, without an error. So a program has to name its
#           sessions, in letters.
set -u
dir=$(mktemp -d) || exit 2
trap '[ ! -x "$dir/tmux" ] || "$dir/tmux" kill-server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" && apt-get -q -o APT::Sandbox::User=root download tmux=3.3a-3 libutempter0=1.2.1-3 libevent-core-2.1-7=2.1.12-stable-8 >apt 2>&1 ||
	{ cat apt; echo 'needs apt with the packages of Debian 12 (bookworm)' >&2; exit 2; }
for deb in *.deb; do dpkg-deb -x "$deb" root || exit 2; done
cat >tmux <<END
#!/bin/sh
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*/) exec "$dir/root/usr/bin/tmux" -S "$dir/socket" -f /dev/null "\$@"
END
chmod +x tmux
mkdir try && cat >try/go.mod <<'END' && cat >try/go.sum <<'END2' && cat >try/main.go <<'END3' || exit 2
module try

go 1.22.3

require github.com/GianlucaP106/gotmux v0.5.0
END
github.com/GianlucaP106/gotmux v0.5.0 h1:kpZsrBPtJFjAvVRfeLwm8cE+7yr4NiMPEaYsTKYGwP8=
github.com/GianlucaP106/gotmux v0.5.0/go.mod h1:qOsZ+exnCbgv3KJ84VaBo4Q7mXs/W23CW4fyoXAgKe4=
END2
package main

import (
	"fmt"
	"log"

	"github.com/GianlucaP106/gotmux/gotmux"
)

func main() {
	tmux, err := gotmux.DefaultTmux()
	if err != nil {
		log.Fatal(err)
	}
	create := func(name string) *gotmux.Session {
		s, err := tmux.NewSession(&gotmux.SessionOptions{Name: name}) // without a name as New
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	// add makes a window in a session, and prints how many each session has.
	add := func(s *gotmux.Session) {
		_, err := s.New()
		fmt.Printf("new in %s: %v;", s.Name, err)
		sessions, listErr := tmux.ListSessions()
		if listErr != nil {
			log.Fatal(listErr)
		}
		for _, s := range sessions {
			fmt.Printf(" %s has %d", s.Name, s.Windows)
		}
		fmt.Println()
	}
	add(create(""))
	second := create("")
	create("")
	add(second)
	add(create("letters"))
}
END3
(cd try && GOWORK=off GOFLAGS=-modcacherw GOMODCACHE=$dir/mod timeout 90 go build -o ../run .) >log 2>&1 ||
	{ cat log; echo 'needs Go and its module proxy' >&2; exit 2; }
seen=$(HOME=$dir SHELL=/bin/sh TMUX='' PATH=$dir:$PATH ./run) || exit 2
expected='new in 0: failed to create window; 0 has 1
new in 1: <nil>; 0 has 1 1 has 1 2 has 2
new in letters: <nil>; 0 has 1 1 has 1 2 has 2 letters has 2'
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }

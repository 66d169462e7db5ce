#!/bin/sh
# A ShellCommand of gotmux that has an argument is not found, and its session is gone at once.
#
# gotmux 0.5.0, with the tmux 3.3a of Debian 12. Its SessionOptions have a ShellCommand and
# refer to tmux's manual, in which a shell command of one argument goes to the shell as it is.
#
# Expected: NewSession with the ShellCommand "sleep 100" makes a session that sleeps.
# Seen:     tmux gets the command in quotes, so that the shell looks for a program called
#           "sleep 100". NewSession returns a session and no error, but the session ends at
#           once; if its pane stays, that has the exit status 127. A command of one word
#           runs. So who starts a session with a command has to look whether it is there.
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
	"time"

	"github.com/GianlucaP106/gotmux/gotmux"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// until waits for what is about to happen, and fails after 20 seconds.
func until(happened func() bool) {
	for range 200 {
		if happened() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("nothing ends")
}

func main() {
	tmux := must(gotmux.DefaultTmux())
	create := func(command string) *gotmux.Session {
		return must(tmux.NewSession(&gotmux.SessionOptions{Name: command, ShellCommand: command}))
	}
	create("cat") // keeps the server
	s := create("sleep 100")
	until(func() bool { return !tmux.HasSession(s.Name) })
	fmt.Println("sleep 100: no session")

	must(tmux.Command("set-option", "-g", "remain-on-exit", "on"))
	for _, command := range []string{"true", "sleep 0"} {
		s := create(command)
		until(func() bool {
			p := must(s.ListPanes())[0]
			if p.Dead {
				fmt.Printf("%s: exit status %d\n", command, p.DeadStatus)
			}
			return p.Dead
		})
	}
}
END3
(cd try && GOWORK=off GOFLAGS=-modcacherw GOMODCACHE=$dir/mod timeout 90 go build -o ../run .) >log 2>&1 ||
	{ cat log; echo 'needs Go and its module proxy' >&2; exit 2; }
seen=$(HOME=$dir SHELL=/bin/sh TMUX='' PATH=$dir:$PATH ./run) || exit 2
expected='sleep 100: no session
true: exit status 0
sleep 0: exit status 127'
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }

package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func init() { children["attach"] = attachHere }

// attachHere attaches this process to a session until the file $OUT.end exists, and writes
// into $OUT what came of it.
func attachHere() {
	out := os.Getenv("OUT")
	before, _ := unix.IoctlGetTermios(0, unix.TCGETS)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := os.Stat(out + ".end"); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	srv, err := tmux.New(tmux.Config{Binary: os.Getenv("TMUX_BINARY"), SocketPath: os.Getenv("SOCKET"), ConfigFile: os.DevNull})
	if err == nil {
		has := func(option string) bool { return strings.Contains(os.Getenv("OPTIONS"), option) }
		err = srv.Session(tmux.SessionID(os.Getenv("SESSION"))).Attach(ctx, tmux.AttachSession{ReadOnly: has("r"), DetachOthers: has("d"), Nested: has("n"), NoEnvironment: has("E")})
	}
	said := "detached"
	if after, _ := unix.IoctlGetTermios(0, unix.TCGETS); before != nil && *before != *after {
		said = "the terminal has other settings"
	} else if err != nil {
		said = err.Error()
	}
	os.WriteFile(out+".new", []byte(said), 0o600)
	os.Rename(out+".new", out)
}

// attacher is a process that calls Attach.
type attacher struct {
	srv  *tmux.Server
	vars []string
	out  string
}

func newAttacher(t *testing.T, srv *tmux.Server, session, options string) *attacher {
	out := filepath.Join(t.TempDir(), "out")
	return &attacher{srv, []string{"TMUX_TEST_CHILD=attach", "TMUX_BINARY=" + srv.Binary(), "SOCKET=" + srv.SocketPath(), "SESSION=" + session, "OPTIONS=" + options, "OUT=" + out}, out}
}

// start starts it on a terminal.
func (a *attacher) start(t *testing.T) *attacher {
	cmd := exec.Command(check.Must[string](t)(os.Executable()))
	cmd.Env = append(a.vars, "TERM=xterm", "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"))
	testserver.OnTerminal(t, cmd)
	return a
}

// said returns what came of it.
func (a *attacher) said(t *testing.T) (text string) {
	t.Helper()
	testserver.Wait(t, a.srv, "", "end of Attach", func() bool {
		got, err := os.ReadFile(a.out)
		text = string(got)
		return err == nil
	})
	return text
}

// client waits until n clients are attached to a session, and returns one that is not among
// those known before.
func client(t *testing.T, srv *tmux.Server, session string, n int, known ...string) (found tmux.Client) {
	t.Helper()
	testserver.Wait(t, srv, "", fmt.Sprintf("%d clients of %s", n, session), func() bool {
		all := check.Must[[]tmux.Client](t)(srv.Session(tmux.SessionID(session)).Clients(testserver.Context(t)))
		for _, c := range all {
			if !slices.Contains(known, c.Name) {
				found = c
			}
		}
		return len(all) == n && (n == 0 || found.Name != "")
	})
	return found
}

func TestAttach(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	first := newAttacher(t, srv, "$0", "").start(t)
	one := client(t, srv, "$0", 1)
	check.Equal(t, "read-only", false, one.Readonly)
	second := newAttacher(t, srv, "$0", "rd").start(t)
	check.Equal(t, "detached by the other", "detached", first.said(t))
	two := client(t, srv, "$0", 1, one.Name)
	check.Equal(t, "read-only", true, two.Readonly)
	check.OK(t, two.Detach(ctx))
	check.Equal(t, "detached", "detached", second.said(t))

	// The context ends, also while the server hangs.
	third := newAttacher(t, srv, "$0", "").start(t)
	client(t, srv, "$0", 1)
	check.OK(t, os.WriteFile(third.out+".end", nil, 0o600))
	check.Equal(t, "cancelled", context.Canceled.Error(), third.said(t))
	client(t, srv, "$0", 0)
	fourth := newAttacher(t, srv, "$0", "").start(t)
	client(t, srv, "$0", 1)
	server := check.Must[tmux.Process](t)(srv.Process(ctx)).PID
	check.OK(t, syscall.Kill(server, syscall.SIGSTOP))
	check.OK(t, os.WriteFile(fourth.out+".end", nil, 0o600))
	var got []byte
	for err := error(os.ErrNotExist); errors.Is(err, os.ErrNotExist) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		got, err = os.ReadFile(fourth.out)
	}
	check.OK(t, syscall.Kill(server, syscall.SIGCONT))
	check.Equal(t, "cancelled while the server hangs", context.Canceled.Error(), string(got))
	client(t, srv, "$0", 0)

	check.Equal(t, "no such session", "has-session: can't find session: $99", newAttacher(t, srv, "$99", "").start(t).said(t))
	check.OK(t, tmuxOption(ctx, srv, "detach-on-destroy", "on"))
	other := check.Must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{}))
	fifth := newAttacher(t, srv, string(other.ID), "").start(t)
	client(t, srv, string(other.ID), 1)
	check.OK(t, other.Kill(ctx))
	check.Equal(t, "the session ends", "detached", fifth.said(t))
	sixth := newAttacher(t, srv, "$0", "").start(t)
	client(t, srv, "$0", 1)
	check.OK(t, srv.Kill(ctx))
	check.Equal(t, "the server ends", "attach-session: tmux server exited", sixth.said(t))
	check.Equal(t, "no server", "no tmux server on "+srv.SocketPath(), strings.TrimPrefix(newAttacher(t, srv, "$0", "").start(t).said(t), "has-session: "))
}

func tmuxOption(ctx context.Context, srv *tmux.Server, name, value string) error {
	return srv.GlobalSessionOptions().Set(ctx, name, value)
}

func quoted(words []string) (line string) {
	for _, w := range words {
		line += tmux.ShellQuote(w) + " "
	}
	return line
}

func TestAttachInside(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	self := check.Must[string](t)(os.Executable())
	for _, name := range []string{"other", "hidden"} {
		check.OK(t, check.Second(srv.NewSession(ctx, tmux.NewSession{Name: name})))
	}
	run := func(in *tmux.Server, session string, a *attacher) string {
		t.Helper()
		id := testserver.Run(t, in, "new-window", "-d", "-t", session+":", "-P", "-F", "#{window_id}", "read x; env "+quoted(a.vars)+self+"; exec sleep 1000")
		testserver.Run(t, in, "select-window", "-t", id)
		testserver.Run(t, in, "send-keys", "-t", id, "Enter")
		return a.said(t)
	}
	check.Equal(t, "no client", "attach-session: no client shows %3, in which this process runs", run(srv, "$0", newAttacher(t, srv, "$1", "")))
	testserver.Attach(t, srv, "$0", 80, 24)
	testserver.Attach(t, srv, "$2", 80, 24)
	one, two := client(t, srv, "$0", 1), client(t, srv, "$2", 1)
	check.Contains(t, "an option", run(srv, "$0", newAttacher(t, srv, "$1", "r")), "whose client switches")
	check.Equal(t, "switched", "detached", run(srv, "$0", newAttacher(t, srv, "$1", "E")))
	check.Equal(t, "the client", one.Name, client(t, srv, "$1", 1).Name)
	check.Equal(t, "the other client", two.Name, client(t, srv, "$2", 1).Name)

	outer := testserver.Started(t)
	check.Contains(t, "in another server", run(outer, "$0", newAttacher(t, srv, "$0", "")), "set Nested")
	nested := newAttacher(t, srv, "$0", "n")
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if all, err := srv.Session("$0").Clients(ctx); err == nil && len(all) == 1 {
				all[0].Detach(ctx)
			}
		}
	}()
	check.Equal(t, "nested", "detached", run(outer, "$0", nested))

	// The tests have no terminal.
	err := srv.Session("$0").Attach(ctx, tmux.AttachSession{})
	check.Kind(t, "no terminal", err, tmux.ErrNoTerminal)
	check.Kind(t, "a second target", srv.Session("$0").Attach(ctx, tmux.AttachSession{Target: tmux.SessionID("$1")}), tmux.ErrArgument)
}

package tmux_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// twin is one of two servers that get the same commands in two ways.
type twin struct {
	srv *tmux.Server
	dir string
}

func newTwin(t testing.TB, way tmux.Transport) *twin {
	base := testserver.Started(t)
	srv := testserver.Handle(t, tmux.Config{
		Binary: base.Binary(), SocketPath: base.SocketPath(), Transport: way,
		Env: []string{"PATH=" + os.Getenv("PATH"), "TERM=screen", "LANG=C.UTF-8", "HOME=/"},
	})
	return &twin{srv: srv, dir: t.TempDir()}
}

// answer is everything that a caller sees of a command list, and the resulting state of the
// server.
type answer struct {
	Outputs []string
	Command string
	Code    int
	Stderr  string
	State   string
	File    string
}

func (w *twin) try(t testing.TB, list []tmux.Raw) answer {
	ctx := testserver.Context(t)
	cmds := make([]tmux.Command, len(list))
	for i, c := range list {
		c.Args = append([]string(nil), c.Args...)
		for j, a := range c.Args {
			c.Args[j] = strings.ReplaceAll(a, "@DIR@", w.dir)
		}
		cmds[i] = c
		// The native transport opens what a typed command names.
		switch path := c.Args[max(0, len(c.Args)-1):]; c.Name {
		case "load-buffer":
			cmds[i] = tmux.LoadBuffer{Buffer: c.Args[1], Path: path[0]}
		case "save-buffer":
			cmds[i] = tmux.SaveBuffer{Buffer: c.Args[len(c.Args)-2], Append: c.Args[0] == "-a", Path: path[0]}
		}
	}
	outs, err := w.srv.Do(ctx, cmds...)
	plain := strings.NewReplacer(w.dir, "@DIR@", w.srv.SocketPath(), "@SOCKET@")
	var a answer
	for _, o := range outs {
		a.Outputs = append(a.Outputs, plain.Replace(string(o)))
	}
	var e *tmux.Error
	switch {
	case errors.As(err, &e):
		a.Command, a.Code, a.Stderr = e.Command, e.ExitCode, plain.Replace(e.Stderr)
		// The program of 3.2 parses the flags itself too, with a getopt that prints errors.
		if strings.HasPrefix(a.Stderr, "tmux: ") {
			_, a.Stderr, _ = strings.Cut(a.Stderr, "\n")
		}
	case err != nil:
		a.Stderr = err.Error()
	}
	state, err := w.srv.Do(ctx,
		tmux.ListPanes{All: true, Format: "#{session_name} #{window_id} #{window_index} #{window_name} #{window_zoomed_flag} #{pane_id} #{pane_title} #{pane_width}x#{pane_height} #{pane_in_mode}"},
		tmux.ListBuffers{Format: "#{buffer_name} #{buffer_size} #{buffer_sample}"},
		tmux.ListClients{},
		tmux.Raw{Name: "show-options", Args: []string{"-g"}},
		tmux.Raw{Name: "show-environment", Args: []string{"-g"}},
	)
	if err != nil {
		t.Fatalf("state after %q: %v", list, err)
	}
	for _, s := range state {
		a.State += string(s) + "--\n"
	}
	// Differences between any two servers.
	lines := strings.Split(plain.Replace(a.State), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "TMUX_TMPDIR=") || strings.HasPrefix(l, "XDG_RUNTIME_DIR=") || strings.HasPrefix(l, "HOME=") || strings.HasPrefix(l, "PWD=") {
			lines[i] = ""
		}
	}
	a.State = strings.Join(lines, "\n")
	if b, err := os.ReadFile(filepath.Join(w.dir, "file")); err == nil {
		a.File = string(b)
	}
	return a
}

// Omitted are commands that never answer the same twice (show-messages), and a directory as
// a file to read, about which the tmux program before 3.6 is silent and we are not.

// randomCommands read, change, print to both streams, fail in every way and use files. Each
// word is one of several separated by bars; a tilde in it is a space, TEXT a hostile
// argument, LONG one that may be very long, and TARGET a target.
var randomCommands = []string{
	"display-message -p -t TARGET #{pane_id}~#{session_name}~TEXT", "display-message -p TEXT", "list-panes -t TARGET -F #{pane_id}|#{pane_width}",
	"set-option -g @a|@b TEXT", "set-option -g|-s|-w|-p|-q TEXT TEXT", "show-options -gv @a|@nope|status|history-limit", "set-environment -g V TEXT",
	"set-buffer -b buf TEXT", "set-buffer -b big LONG", "show-buffer -b buf|big|nope", "delete-buffer -b buf|big|nope",
	"save-buffer -b buf|big @DIR@/file|@DIR@/no/file|-", "save-buffer -a -b buf|big @DIR@/file|@DIR@/no/file|-",
	"load-buffer -b buf @DIR@/file|@DIR@/nope|/dev/null", "source-file @DIR@/file|@DIR@/nope|/dev/null",
	"rename-window -t TARGET -- TEXT", "select-pane -t TARGET -T TEXT", "resize-pane -Z -t TARGET", "copy-mode -t TARGET", "send-keys -t TARGET -X cancel",
	"if-shell -F 1|0 display-message~-p~yes last-window", "if-shell -F 1 list-windows~-Q",
	"last-window|last-pane|detach-client|no-such-command|list-|list-wi|attach-session|switch-client|refresh-client",
	"list-keys -T copy-mode|nope", "list-commands", "wait-for -S x",
}

// randomList makes a command list of them.
func randomList(r *rand.Rand) []tmux.Raw {
	pick := func(s []string) string { return s[r.IntN(len(s))] }
	targets := []string{"%0", "%1", "%99", "@0", "main:", "main:9", "=main:", "nosuch", "", "$0"}
	list := make([]tmux.Raw, 1+r.IntN(6))
	for i := range list {
		words := strings.Fields(pick(randomCommands))
		for j, word := range words {
			long := strings.Repeat(pick(texts)+"x", 1+r.IntN(5000))
			fill := strings.NewReplacer("~", " ", "TEXT", pick(texts), "TARGET", pick(targets), "LONG", long)
			words[j] = fill.Replace(pick(strings.Split(word, "|")))
		}
		list[i] = tmux.Raw{Name: words[0], Args: words[1:]}
	}
	return list
}

// FuzzTransports gives random command lists to two servers, to one through the tmux program
// and to the other natively: a caller sees no difference.
func FuzzTransports(f *testing.F) {
	for seed := range uint64(testtool.Size(25, 60)) {
		f.Add(seed)
	}
	ways := []*twin{newTwin(f, tmux.TransportExec), newTwin(f, tmux.TransportNative)}
	for _, w := range ways {
		testserver.Run(f, w.srv, "split-window", "-d", "-t", "%0", "sleep 10000")
		testserver.Run(f, w.srv, "respawn-pane", "-k", "-t", "%0", "sleep 10000")
		testserver.Run(f, w.srv, "set-option", "-g", "automatic-rename", "off")
		testserver.Run(f, w.srv, "rename-window", "-t", "@0", "first")
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		list := randomList(rand.New(rand.NewPCG(seed, 1)))
		a, b := ways[0].try(t, list), ways[1].try(t, list)
		check.Equal(t, fmt.Sprintf("exec (-) and native (+) of %.2000q", list), a, b)
	})
}

// A command that only reads sends the server less of the environment than the tmux program
// does. A pane that a hook creates meanwhile still has the client's PATH.
func TestReadsSendThePath(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	testserver.Run(t, srv, "set-hook", "-g", "after-list-windows", `new-window -d 'printf "path=%s;" "$PATH"; exec cat'`)
	for i, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		own := "/own/" + string(way) + ":"
		looking := testserver.Handle(t, tmux.Config{
			Binary: srv.Binary(), SocketPath: srv.SocketPath(), Transport: way, Env: []string{"HOME=/", "PATH=" + own + os.Getenv("PATH")},
		})
		check.OK(t, do(testserver.Context(t), looking, tmux.ListWindows{}))
		testserver.WaitScreen(t, srv, fmt.Sprint("%", i+1), "path="+own)
	}
}

// TestLogHoldsNoWords: what is typed or set is not in the debug log, with either transport
// and however it ends.
func TestLogHoldsNoWords(t *testing.T) {
	t.Parallel()
	const canary = "CANARY7331"
	for _, way := range []tmux.Transport{tmux.TransportExec, tmux.TransportAuto} {
		srv := testserver.New(t)
		testserver.Run(t, srv, "new-session", "-d", "cat")
		var log bytes.Buffer
		logged := testserver.Handle(t, tmux.Config{Binary: srv.Binary(), SocketPath: srv.SocketPath(), Transport: way, Logger: debugLog(&log)})
		ctx := testserver.Context(t)
		large := strings.Repeat(canary, 20_000)
		for _, cmd := range []tmux.Command{
			tmux.SendKeys{Keys: []string{canary}}, tmux.SetOption{Name: "mouse", Value: &large}, tmux.Raw{Name: "set-buffer", Args: []string{large}},
			tmux.Raw{Name: "rename-window", Args: []string{"-t", canary, canary}}, tmux.Raw{Name: "if-shell", Args: []string{"-" + canary}},
		} {
			_, _ = logged.Do(ctx, cmd)
		}
		n := strings.Count(log.String(), "msg=tmux")
		check.That(t, n >= 5 && !strings.Contains(log.String(), canary), "%s: %d records:\n%.2000s", way, n, log.String())
		check.Contains(t, string(way), log.String(), "commands=[send-keys]")
	}
}

// A list made for the socket, with typed text in addition to a buffer's content, does not
// become arguments of the tmux program when its server is gone.
func TestTypedTextStaysOffTheCommandLine(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	auto := testserver.Handle(t, tmux.Config{Binary: srv.Binary(), SocketPath: srv.SocketPath(), ConfigFile: "/dev/null", Transport: tmux.TransportAuto})
	check.OK(t, do(ctx, auto, tmux.ListSessions{})) // it is native from here on
	check.OK(t, srv.Kill(ctx))
	list := []tmux.Command{tmux.LoadBuffer{Path: "-", Data: []byte("x")}, tmux.NewSession{Detached: true, Command: []string{"exec cat # secret"}}}
	err := do(ctx, auto, list...)
	check.Kind(t, "load-buffer and new-session", err, tmux.ErrServerGone)
	// The server may still be there for a moment without answering.
	for try := 0; ; try++ {
		err := do(ctx, srv, tmux.ListSessions{})
		if errors.Is(err, tmux.ErrServerGone) && try < 1000 {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		check.Kind(t, "list-sessions", err, tmux.ErrNoServer)
		return
	}
}

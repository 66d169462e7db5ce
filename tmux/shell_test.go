package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// canRunShell skips a test where this tmux shows the output to the user; there
// it checks that nothing was run.
func canRunShell(t *testing.T, srv *tmux.Server) {
	t.Helper()
	ctx := tmuxtest.Context(t)
	v := must[tmux.Version](t)(srv.Version(ctx))
	if v.Major > 3 || v.Minor < 3 || v.Minor > 4 {
		return
	}
	marker := filepath.Join(t.TempDir(), "marker")
	_, err := srv.RunShell(ctx, "touch "+marker, tmux.ShellOptions{})
	var e *tmux.UnsupportedError
	expect(t, errors.As(err, &e) && e.Since.String() == "3.5", "on %v: %v", v, err)
	absent(t, marker)
	t.Skipf("tmux %v cannot return the output of run-shell", v)
}

func TestRunShell(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	canRunShell(t, srv)
	for _, test := range []struct {
		command, out string
		code         int
	}{
		{"echo hello", "hello\n", 0},
		{"true", "", 0},
		{"printf 'no end'", "no end\n", 0},
		{"echo out; exit 3", "out\n", 3},
		{"printf 'no end'; exit 4", "no end\n", 4},
		{"exit 44 # it's #{pane_id} #(touch x) %Y ;", "", 44},
		{"echo \"'exit 3' returned 3\"; exit 3", "'exit 3' returned 3\n", 3},
		{"no-such-command-here", "", 127},
		{"kill -9 $$", "", 137},
		{"echo 'out of 137'; exit 137", "out of 137\n", 137},
		{"echo '#{pane_id} #S #(echo job) %Y $HOME'", "#{pane_id} #S #(echo job) %Y $HOME\n", 0},
		{"echo one\necho two\nexit 5", "one\ntwo\n", 5},
		{"echo ü; exit 6 # \x1b\x7f ü", "ü\n", 6},
		{"echo a;", "a\n", 0},
		{"-nope; exit 2", "", 2}, {"+x", "", 127},
		{"seq 1 20000", numbers(20000), 0},
	} {
		got, err := srv.RunShell(ctx, test.command, tmux.ShellOptions{})
		if err != nil || string(got.Output) != test.out || got.ExitCode != test.code {
			t.Errorf("%q: %.200q, exit code %d, %v; want %.200q, %d", test.command, got.Output, got.ExitCode, err, test.out, test.code)
		}
	}
	isKind(t, "no command", second(srv.RunShell(ctx, " \n", tmux.ShellOptions{})), tmux.ErrArgument)
	isKind(t, "a NUL byte", second(srv.RunShell(ctx, "echo \x00", tmux.ShellOptions{})), tmux.ErrArgument)
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRunShellDirectoryAndStderr(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	canRunShell(t, srv)
	v := must[tmux.Version](t)(srv.Version(ctx))
	dir := filepath.Join(t.TempDir(), "a #{pane_id} %Y #(x)")
	ok(t, os.Mkdir(dir, 0o700))
	check := func(what, since, command string, opts tmux.ShellOptions, want string) {
		t.Helper()
		got, err := srv.RunShell(ctx, command, opts)
		var e *tmux.UnsupportedError
		if min, _ := tmux.ParseVersion(since); !v.Has(min) {
			expect(t, errors.As(err, &e) && e.Since == min, "%s on %v: %v", what, v, err)
		} else if err != nil || string(got.Output) != want {
			t.Errorf("%s: %q, %v; want %q", what, got.Output, err, want)
		}
	}
	check("directory", "3.4", "pwd", tmux.ShellOptions{Dir: dir}, dir+"\n")
	check("stderr", "3.6", "echo bad >&2", tmux.ShellOptions{Stderr: true}, "bad\n")
	check("no stderr", "3.2", "echo bad >&2", tmux.ShellOptions{}, "")
	for _, bad := range []string{"relative", filepath.Join(dir, "none"), os.Args[0]} {
		if got, err := srv.RunShell(ctx, "pwd", tmux.ShellOptions{Dir: bad}); err == nil || !strings.Contains(err.Error(), "directory") {
			t.Errorf("in %s: %q, %v", bad, got.Output, err)
		}
	}
}

// inFlight is what a call of this process may leave behind: open sockets and child processes.
func inFlight(t *testing.T) map[string]string {
	t.Helper()
	found := openSockets(t)
	threads, _ := filepath.Glob("/proc/self/task/*/children")
	if len(threads) == 0 {
		t.Skip("no /proc/self/task/*/children to find child processes in")
	}
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // the thread may be gone
		for _, pid := range strings.Fields(string(children)) {
			found[pid] = "process " + pid
		}
	}
	return found
}

func TestCancelledCallsLeaveNothing(t *testing.T) {
	srv := started(t)
	must[tmux.Version](t)(srv.Version(tmuxtest.Context(t)))
	before := inFlight(t)
	working := job(t)
	for what, call := range map[string]func(ctx context.Context) error{
		"wait-for":  func(ctx context.Context) error { return srv.Channel("never").Wait(ctx) },
		"run-shell": func(ctx context.Context) error { return second(srv.Do(ctx, tmux.RunShell{Command: working})) },
		"if-shell": func(ctx context.Context) error {
			return second(srv.Do(ctx, tmux.IfShell{Condition: tmux.Literal(working), Then: "list-panes"}))
		},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		reason := errors.New("the user went home")
		running := make(chan error)
		go func() { running <- call(ctx) }()
		left := func() (left []string) {
			for name := range inFlight(t) {
				if _, ok := before[name]; !ok {
					left = append(left, name)
				}
			}
			return left
		}
		testtool.Eventually(t, what+" is asked", func() bool { return len(left()) > 0 })
		cancel(reason)
		isKind(t, what, <-running, reason)
		testtool.Eventually(t, what+" leaves nothing", func() bool { return len(left()) == 0 })
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	const channel = "a b;#{x}"
	woken := make(chan error, 1)
	go func() { woken <- srv.Channel(channel).Wait(ctx) }()
	// Kept if it comes first.
	ok(t, srv.Channel(channel).Signal(ctx))
	ok(t, <-woken)
	ok(t, srv.Channel("l").Lock(ctx))
	go func() { woken <- srv.Channel("l").Lock(ctx) }()
	ok(t, srv.Channel("l").Unlock(ctx))
	ok(t, <-woken)
	ok(t, srv.Channel("l").Unlock(ctx))
	if err := srv.Channel("l").Unlock(ctx); err == nil {
		t.Error("unlocked twice")
	}
	isKind(t, "a channel without a name", srv.Channel("").Signal(ctx), tmux.ErrArgument)
}

func TestIfShell(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	set := func(value string) string {
		text, err := srv.Script(ctx, tmux.SetOption{Global: true, Name: "@got", Value: &value}, tmux.SetOption{Global: true, Name: "@more", Value: new("a;\n'b'")})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, test := range []struct {
		cmd  tmux.IfShell
		want string
	}{
		{tmux.IfShell{Condition: "true"}, "then"},
		{tmux.IfShell{Condition: "exit 1"}, "else"},
		{tmux.IfShell{Test: true, Condition: "#{session_name}"}, "then"},
		{tmux.IfShell{Test: true, Condition: "0"}, "else"},
		{tmux.IfShell{Test: true, Condition: tmux.MatchEqual("session_name", "main")}, "then"},
		{tmux.IfShell{Test: true, Condition: tmux.Not(tmux.MatchEqual("session_name", "main"))}, "else"},
		{tmux.IfShell{Condition: tmux.Literal("test '#{x}' = '#'\"{x}\"")}, "then"},
	} {
		test.cmd.Then, test.cmd.Else = set("then"), set("else")
		ok(t, do(ctx, srv, test.cmd))
		equal(t, string(test.cmd.Condition), test.want, must[string](t)(srv.GlobalSessionOptions().Get(ctx, "@got")))
	}
	equal(t, "the second command of the script set", "a;\n'b'", must[string](t)(srv.GlobalSessionOptions().Get(ctx, "@more")))
}

func TestTemplateIsExpandedForItsTarget(t *testing.T) {
	t.Parallel()
	srv := started(t)
	ctx := tmuxtest.Context(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "other", "cat")
	w := tmux.WindowID(tmuxtest.Run(t, srv, "new-window", "-d", "-P", "-F", "#{window_id}", "-t", "=other:", "cat"))
	script := must[string](t)(srv.Script(ctx, tmux.MoveWindow{Source: w, Target: tmux.TargetSpec("#{session_id}:7")}))
	ok(t, do(ctx, srv, tmux.RunShell{Target: w, Commands: true, Template: tmux.Format(script)}))
	equal(t, "the window is at", "other:7", tmuxtest.Run(t, srv, "display-message", "-p", "-t", string(w), "#{session_name}:#{window_index}"))
	for _, c := range []tmux.RunShell{{Template: "list-panes"}, {Commands: true, Template: "list-panes", Command: "list-panes"}} {
		isKind(t, fmt.Sprintf("%+v", c), second(srv.Do(ctx, c)), tmux.ErrArgument)
	}
}

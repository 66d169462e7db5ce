package tmux_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// canRunShell skips a test where this tmux shows the output to the user; there
// it checks that nothing was run.
func canRunShell(t *testing.T, srv *tmux.Server) {
	t.Helper()
	ctx := tmuxtest.Context(t)
	v, err := srv.Version(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if v.Major > 3 || v.Minor < 3 || v.Minor > 4 {
		return
	}
	marker := filepath.Join(t.TempDir(), "marker")
	_, err = srv.RunShell(ctx, "touch "+marker, tmux.ShellOptions{})
	var e *tmux.UnsupportedError
	if !errors.As(err, &e) || e.Since.String() != "3.5" {
		t.Errorf("on %v: %v", v, err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it was run all the same")
	}
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
	if _, err := srv.RunShell(ctx, " \n", tmux.ShellOptions{}); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("no command: %v", err)
	}
	if _, err := srv.RunShell(ctx, "echo \x00", tmux.ShellOptions{}); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("a NUL byte: %v", err)
	}
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
	v, err := srv.Version(ctx)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "a #{pane_id} %Y #(x)")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(what, since, command string, opts tmux.ShellOptions, want string) {
		t.Helper()
		got, err := srv.RunShell(ctx, command, opts)
		var e *tmux.UnsupportedError
		if min, _ := tmux.ParseVersion(since); !v.Has(min) {
			if !errors.As(err, &e) || e.Since != min {
				t.Errorf("%s on %v: %v", what, v, err)
			}
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

// inFlight is what a call of this process may leave behind: child processes and
// open sockets.
func inFlight(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc to find child processes in")
	}
	found := map[string]string{}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			found[e.Name()] = string(stat)
		}
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
			found[to] = to
		}
	}
	return found
}

func TestCancelledCallsLeaveNothing(t *testing.T) {
	srv := started(t)
	if _, err := srv.Version(tmuxtest.Context(t)); err != nil {
		t.Fatal(err)
	}
	before := inFlight(t)
	for what, call := range map[string]func(ctx context.Context) error{
		"wait-for":  func(ctx context.Context) error { return srv.Channel("never").Wait(ctx) },
		"run-shell": func(ctx context.Context) error { return second(srv.Do(ctx, tmux.RunShell{Command: "sleep 5"})) },
		"if-shell": func(ctx context.Context) error {
			return second(srv.Do(ctx, tmux.IfShell{Condition: "sleep 5", Then: "list-panes"}))
		},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		reason := errors.New("the user went home")
		running := make(chan error)
		go func() { running <- call(ctx) }()
		seen := false
		for range 2000 {
			if now := inFlight(t); len(now) > len(before) {
				seen = true
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !seen {
			t.Errorf("%s: no client and no connection was seen", what)
		}
		cancel(reason)
		if err := <-running; !errors.Is(err, reason) {
			t.Errorf("%s: %v", what, err)
		}
		for pid, stat := range inFlight(t) {
			if _, ok := before[pid]; !ok {
				t.Errorf("%s left %s", what, stat)
			}
		}
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	const channel = "a b;#{x}"
	woken := make(chan error, 1)
	go func() { woken <- srv.Channel(channel).Wait(ctx) }()
	// Kept if it comes first.
	if err := srv.Channel(channel).Signal(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-woken; err != nil {
		t.Error(err)
	}
	if err := srv.Channel("l").Lock(ctx); err != nil {
		t.Fatal(err)
	}
	go func() { woken <- srv.Channel("l").Lock(ctx) }()
	if err := srv.Channel("l").Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-woken; err != nil {
		t.Error(err)
	}
	if err := srv.Channel("l").Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	if err := srv.Channel("l").Unlock(ctx); err == nil {
		t.Error("unlocked twice")
	}
	if err := srv.Channel("").Signal(ctx); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("a channel without a name: %v", err)
	}
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
		if _, err := srv.Do(ctx, test.cmd); err != nil {
			t.Fatal(err)
		}
		if got, err := srv.GlobalSessionOptions().Get(ctx, "@got"); err != nil || got != test.want {
			t.Errorf("%q: %s, %v, want %s", test.cmd.Condition, got, err, test.want)
		}
	}
	if got, err := srv.GlobalSessionOptions().Get(ctx, "@more"); err != nil || got != "a;\n'b'" {
		t.Errorf("the second command of the script set %q, %v", got, err)
	}
}

func TestWaitForEvent(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	v, err := srv.Version(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cmd := tmux.WaitFor{Event: true, Channel: "pane-activity"}
	if min, _ := tmux.ParseVersion("3.8"); !v.Has(min) {
		if _, err := srv.Do(ctx, cmd); !errors.Is(err, tmux.ErrUnsupported) {
			t.Errorf("on %v: %v", v, err)
		}
		t.Skipf("tmux %v has no events", v)
	}
	done := make(chan error, 1)
	go func() { done <- second(srv.Do(ctx, cmd)) }()
	pane := srv.Pane("%0")
	tmuxtest.Wait(t, srv, "%0", "event", func() bool {
		if err := pane.SendKeys(ctx, "Enter"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			return err == nil
		default:
			return false
		}
	})
}

func TestTemplateIsExpandedForItsTarget(t *testing.T) {
	t.Parallel()
	srv := started(t)
	ctx := tmuxtest.Context(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "other", "cat")
	w := tmux.WindowID(tmuxtest.Run(t, srv, "new-window", "-d", "-P", "-F", "#{window_id}", "-t", "=other:", "cat"))
	script, err := srv.Script(ctx, tmux.MoveWindow{Source: w, Target: tmux.TargetSpec("#{session_id}:7")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Do(ctx, tmux.RunShell{Target: w, Commands: true, Template: tmux.Format(script)}); err != nil {
		t.Fatal(err)
	}
	if at := tmuxtest.Run(t, srv, "display-message", "-p", "-t", string(w), "#{session_name}:#{window_index}"); at != "other:7" {
		t.Errorf("the window is at %s, want other:7", at)
	}
	for _, c := range []tmux.RunShell{{Template: "list-panes"}, {Commands: true, Template: "list-panes", Command: "list-panes"}} {
		if _, err := srv.Do(ctx, c); !errors.Is(err, tmux.ErrArgument) {
			t.Errorf("%+v: %v, want an argument error", c, err)
		}
	}
}

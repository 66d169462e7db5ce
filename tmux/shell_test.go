package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

func TestCancelledCallsLeaveNothing(t *testing.T) {
	srv := testserver.Started(t)
	check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
	before := testserver.InFlight(t)
	working := job(t)
	for what, call := range map[string]func(ctx context.Context) error{
		"wait-for":  func(ctx context.Context) error { return srv.Channel("never").Wait(ctx) },
		"run-shell": func(ctx context.Context) error { return check.Second(srv.Do(ctx, tmux.RunShell{Command: working})) },
		"if-shell": func(ctx context.Context) error {
			return check.Second(srv.Do(ctx, tmux.IfShell{Condition: tmux.Literal(working), Then: "list-panes"}))
		},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		reason := errors.New("the user went home")
		running := make(chan error)
		go func() { running <- call(ctx) }()
		left := func() (left []string) {
			for name := range testserver.InFlight(t) {
				if _, ok := before[name]; !ok {
					left = append(left, name)
				}
			}
			return left
		}
		testtool.Eventually(t, what+" is asked", func() bool { return len(left()) > 0 })
		cancel(reason)
		check.Kind(t, what, <-running, reason)
		testtool.Eventually(t, what+" leaves nothing", func() bool { return len(left()) == 0 })
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	const channel = "a b;#{x}"
	woken := make(chan error, 1)
	go func() { woken <- srv.Channel(channel).Wait(ctx) }()
	// Kept if it comes first.
	check.OK(t, srv.Channel(channel).Signal(ctx))
	check.OK(t, <-woken)
	check.OK(t, srv.Channel("l").Lock(ctx))
	go func() { woken <- srv.Channel("l").Lock(ctx) }()
	check.OK(t, srv.Channel("l").Unlock(ctx))
	check.OK(t, <-woken)
	check.OK(t, srv.Channel("l").Unlock(ctx))
	if err := srv.Channel("l").Unlock(ctx); err == nil {
		t.Error("unlocked twice")
	}
	check.Kind(t, "a channel without a name", srv.Channel("").Signal(ctx), tmux.ErrArgument)
}

func TestIfShell(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	set := func(value string) string {
		text, err := srv.Script(ctx, tmux.SetOption{Global: true, Name: "@got", Value: &value}, tmux.SetOption{Global: true, Name: "@more", Value: ptr("a;\n'b'")})
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
		check.OK(t, do(ctx, srv, test.cmd))
		check.Equal(t, string(test.cmd.Condition), test.want, check.Must[string](t)(srv.GlobalSessionOptions().Get(ctx, "@got")))
	}
	check.Equal(t, "the second command of the script set", "a;\n'b'", check.Must[string](t)(srv.GlobalSessionOptions().Get(ctx, "@more")))
}

func TestTemplateIsExpandedForItsTarget(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	ctx := testserver.Context(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "other", "cat")
	w := tmux.WindowID(testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{window_id}", "-t", "=other:", "cat"))
	script := check.Must[string](t)(srv.Script(ctx, tmux.MoveWindow{Source: w, Target: tmux.TargetSpec("#{session_id}:7")}))
	check.OK(t, do(ctx, srv, tmux.RunShell{Target: w, Commands: true, Template: tmux.Format(script)}))
	check.Equal(t, "the window is at", "other:7", testserver.Run(t, srv, "display-message", "-p", "-t", string(w), "#{session_name}:#{window_index}"))
	for _, c := range []tmux.RunShell{{Template: "list-panes"}, {Commands: true, Template: "list-panes", Command: "list-panes"}} {
		check.Kind(t, fmt.Sprintf("%+v", c), check.Second(srv.Do(ctx, c)), tmux.ErrArgument)
	}
}

// A duration is given to each command in its own unit.
func TestDelays(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	testserver.Run(t, srv, "new-session", "-d", "exec cat")
	for _, c := range []struct {
		cmd  tmux.Command
		want string
	}{
		{tmux.RunShell{Delay: 1500 * time.Millisecond, Command: "true"}, "run-shell -d 1.5 true"},
		{tmux.RunShell{Delay: time.Minute, Command: "true"}, "run-shell -d 60 true"},
		{tmux.DisplayMessage{Delay: ptr(1500 * time.Millisecond), Message: "x"}, "display-message -d 1500 x"},
		{tmux.DisplayMessage{Delay: ptr(time.Duration(0)), Message: "x"}, "display-message -d 0 x"},
		{tmux.DisplayPanes{Duration: ptr(2 * time.Second)}, "display-panes -d 2000"},
	} {
		if got := check.Must[string](t)(srv.Script(ctx, c.cmd)); strings.ReplaceAll(got, "'", "") != c.want {
			t.Errorf("%+v: %s, want %s", c.cmd, got, c.want)
		}
	}
	if _, err := srv.Do(ctx, tmux.RunShell{Delay: -time.Second, Command: "true"}); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("a negative delay: %v", err)
	}
}

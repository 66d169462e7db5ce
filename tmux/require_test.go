package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// A list goes on after a condition that is true, and ends at one that is not; either way it
// leaves no output of its own.
func TestRequire(t *testing.T) {
	t.Parallel()
	base := testserver.Started(t)
	check.OK(t, do(testserver.Context(t), base, tmux.RenameSession{Name: "a,b}#{c;"}))
	for _, way := range transports {
		srv, ctx := testserver.By(t, base, way), testserver.Context(t)
		for _, test := range []struct {
			condition tmux.Format
			target    tmux.Target
			want      bool
		}{
			{"1", nil, true}, {"0", nil, false}, {"#{@nothing}", nil, false}, {"#{pane_id}", tmux.PaneID("%0"), true}, {"#{pane_id}", tmux.PaneID("%99"), false},
			{tmux.MatchEqual("pane_id", "%0"), tmux.PaneID("%0"), true}, {tmux.MatchEqual("pane_id", "%1"), tmux.PaneID("%0"), false},
			{tmux.MatchEqual("session_name", "a,b}#{c;"), tmux.SessionID("$0"), true}, {tmux.Not(tmux.MatchEqual("session_name", "a,b}#{c;")), nil, false},
			{tmux.And("#{pane_id}", tmux.Or("0", tmux.MatchToken("session_name", ";$", tmux.MatchOptions{Regexp: true}))), tmux.WindowID("@0"), true},
		} {
			var b tmux.Batch
			before := tmux.AddMessage(&b, tmux.DisplayMessage{Message: "before"})
			guard := tmux.Add(&b, tmux.Require{Target: test.target, Condition: test.condition})
			after := tmux.AddMessage(&b, tmux.DisplayMessage{Message: "after"})
			err := b.Do(ctx, srv)
			if *before != "before" || len(*guard) > 0 || (*after == "after") != test.want || (err == nil) != test.want {
				t.Errorf("%s %s: %q, %q, %q, %v", way, test.condition, *before, *guard, *after, err)
			}
			if err != nil {
				check.Kind(t, string(test.condition), err, tmux.ErrUnmet)
				if !strings.Contains(err.Error(), "condition not met") {
					t.Error(err)
				}
			}
		}
		check.Kind(t, string(way), do(ctx, srv, tmux.Require{}), tmux.ErrArgument)
		// In a list that goes on standard input too.
		err := do(ctx, srv, tmux.Require{Condition: "0"}, tmux.SetOption{Global: true, Name: "@long", Value: ptr(strings.Repeat("x", 20_000))})
		check.Kind(t, string(way), err, tmux.ErrUnmet)
		check.Equal(t, string(way)+": the option", "", testserver.Run(t, base, "show-options", "-gqv", "@long"))
	}
}

// TestGuard: under a guard that is not met, nothing that changes something runs, wherever it
// stands in a list, and what reads does.
func TestGuard(t *testing.T) {
	t.Parallel()
	base := testserver.Started(t)
	for _, way := range transports {
		srv, ctx := testserver.By(t, base, way), testserver.Context(t)
		under := func(conditions ...tmux.Format) context.Context {
			var all []guarded.Condition
			for _, c := range conditions {
				all = append(all, guarded.Condition{Target: "%0", Format: string(c)})
			}
			return guarded.With(ctx, all...)
		}
		set := func(value string) tmux.Command { return tmux.SetOption{Global: true, Name: "@guarded", Value: &value} }
		got := func() string { return testserver.Run(t, base, "show-options", "-gqv", "@guarded") }
		is := tmux.MatchEqual("pane_id", "%0")
		check.OK(t, do(ctx, srv, set("before")))
		check.OK(t, do(under(is, "1"), srv, set("met"), tmux.ListSessions{}))
		check.Equal(t, string(way), "met", got())
		for _, unmet := range []context.Context{under(tmux.Not(is)), under(is, "0")} {
			var b tmux.Batch
			read := tmux.AddMessage(&b, tmux.DisplayMessage{Message: "read"})
			tmux.Add(&b, set("unmet"))
			err := b.Do(unmet, srv)
			check.Kind(t, string(way), err, guarded.Err)
			check.Equal(t, string(way), "read", *read)
			check.Kind(t, string(way), srv.Kill(unmet), guarded.Err)
			check.Kind(t, string(way)+", on standard input", do(unmet, srv, set(strings.Repeat("x", 20_000))), guarded.Err)
		}
		// A list's own conditions have another error.
		check.Kind(t, string(way), do(under(is), srv, tmux.Require{Condition: "0"}, set("unmet")), tmux.ErrUnmet)
		check.Equal(t, string(way), "met", got())
	}
}

// TestProcess: the process that listens on the socket is the server's, unless something
// stands in front of it.
func TestProcess(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	pid := testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	p := check.Must[tmux.Process](t)(srv.Process(ctx))
	check.Equal(t, "the server's process", pid+" true", fmt.Sprint(p.PID, p.Here))
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows who listens on a socket")
	}
	relayed := testserver.Handle(t, tmux.Config{SocketPath: relay(t, srv.SocketPath())})
	p = check.Must[tmux.Process](t)(relayed.Process(ctx))
	check.Equal(t, "its process behind a relay", pid+" false", fmt.Sprint(p.PID, p.Here))
	check.OK(t, srv.Kill(ctx))
	if _, err := srv.Process(ctx); !errors.Is(err, tmux.ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
}

// relay passes on the bytes of connections to a socket, and returns its own.
func relay(t *testing.T, socket string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay")
	listener := check.Must[net.Listener](t)(net.Listen("unix", path))
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				client.Close()
				continue
			}
			go func() { io.Copy(server, client); server.(*net.UnixConn).CloseWrite() }()
			go func() { io.Copy(client, server); client.Close(); server.Close() }()
		}
	}()
	return path
}

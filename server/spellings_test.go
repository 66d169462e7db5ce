package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// TestOtherSpellingsAreNoTarget: no other spelling of the agent's own pane, or of what
// contains it, names anything, for any argument of any tool. It is refused by one plain
// sentence, and the user is not asked, whichever way the client would ask.
func TestOtherSpellingsAreNoTarget(t *testing.T) {
	t.Parallel()
	tested := 0
	srv, cfg := server.AgentServer(t)
	before := wholeState(t, srv)
	for tool, calls := range server.SpelledCalls(t) {
		if tested += len(calls); !testtool.Full {
			calls = everyNth(calls, 10)
		}
		t.Run(tool, func(t *testing.T) {
			revisions := []string{"2025-11-25"}
			if calls[0].Guarded {
				revisions = append(revisions, modern)
			}
			for _, revision := range revisions {
				s := newServer(t, cfg)
				s.SetConsentWait(time.Millisecond)
				c := &client{peer: connectTo(t, s), revision: revision, capabilities: `{"elicitation":{}}`}
				c.hello()
				for _, call := range calls {
					waiting, _ := c.begin("tools/call", c.params(map[string]any{"name": tool, "arguments": json.RawMessage(call.Args)}))
					var res result
					if r := c.await(waiting); json.Unmarshal(r.Result, &res) != nil {
						t.Fatalf("%s: %+v", call.Args, r)
					}
					// A sentence, and what to do.
					says, ofBatch := strings.CutPrefix(res.text(), "[0 of 1 succeeded, stopped at 0]\n")
					if !res.IsError && !ofBatch || says == "" || len(says) > 300 || strings.Count(says, "\n") > 1 || strings.ContainsFunc(says, func(r rune) bool { return r < ' ' && r != '\n' }) {
						t.Errorf("%s by %s: %q", call.Args, c.revision, says)
					}
				}
				if ids := c.asks(); len(ids) > 0 {
					t.Errorf("the user of %s is asked %d times", c.revision, len(ids))
				}
			}
			if diff := difference(before, wholeState(t, srv)); diff != "" {
				t.Errorf("refused calls changed something:\n%s", diff)
			}
		})
	}
	if tested < 3000 {
		t.Errorf("there are only %d spellings", tested)
	}
}

// everyNth are the first of a list and every n-th after it.
func everyNth[T any](list []T, n int) (some []T) {
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

// TestOtherSpellingsOfTheOwnSocket: the agent's tmux server is known under every name.
func TestOtherSpellingsOfTheOwnSocket(t *testing.T) {
	t.Parallel()
	srv := inhabited(t)
	own := srv.SocketPath()
	dir, name := filepath.Split(own)
	elsewhere, err := os.MkdirTemp("", "tt") // short: it has the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	link, linked, hard := filepath.Join(elsewhere, "l"), filepath.Join(elsewhere, "d"), filepath.Join(elsewhere, "h")
	for _, err := range []error{os.Symlink(own, link), os.Symlink(dir, linked), os.Link(own, hard)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := wholeState(t, srv)
	refused := func(cfg server.Config, args string) {
		t.Helper()
		cfg.Caller = server.Caller{Pane: "%0", Socket: own}
		serve(t, cfg).fails("kill_pane", args, "refusing to end pane %0")
	}
	for _, path := range []string{dir + "/" + name, dir + "./" + name, dir + "../" + filepath.Base(dir) + "/" + name, link, filepath.Join(linked, name), hard} {
		cfg := configFor(srv)
		cfg.SocketPath = path
		refused(cfg, `{"pane_id":"%0"}`)
	}
	// A name in tmux's own directory.
	named := filepath.Join(elsewhere, filepath.Base(tmux.SocketDir(nil)))
	if err := os.Mkdir(named, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(named, "other")); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, "TMUX_TMPDIR="+elsewhere)
	refused(cfg, `{"pane_id":"%0","socket_name":"other"}`)
	// It was renamed since.
	if err := os.Rename(own, filepath.Join(elsewhere, "renamed")); err != nil {
		t.Fatal(err)
	}
	cfg = configFor(srv)
	cfg.SocketPath = filepath.Join(elsewhere, "renamed")
	refused(cfg, `{"pane_id":"%0"}`)
	if err := os.Rename(filepath.Join(elsewhere, "renamed"), own); err != nil {
		t.Fatal(err)
	}
	if diff := difference(before, wholeState(t, srv)); diff != "" {
		t.Errorf("refused calls changed something:\n%s", diff)
	}
}

// TestANameIsOfOneMoment: the meaning of a name changes while tools act on it, and the
// agent's own pane is never affected.
func TestANameIsOfOneMoment(t *testing.T) {
	t.Parallel()
	srv, cfg := server.AgentServer(t)
	s := newServer(t, cfg)
	before := server.OwnState(t, srv)
	ctx := testserver.Context(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		rename := func(id tmux.SessionID, name string) tmux.Command { return tmux.RenameSession{Target: id, Name: name} }
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			first, second := tmux.SessionID("$0"), tmux.SessionID("$1")
			if i%2 == 0 {
				first, second = second, first
			}
			if _, err := srv.Do(ctx, rename(first, "neither"), rename(second, "agent"), rename(first, "other")); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	refused, done := 0, 0
	for i := 0; i < 2000 && (i < 200 || refused == 0 || done == 0); i++ {
		res, err := s.Call(ctx, "clear_pane", json.RawMessage(`{"session_name":"agent"}`))
		if err != nil {
			t.Fatal(err)
		}
		if res.IsError {
			refused++
		} else {
			done++
		}
	}
	close(stop)
	<-stopped
	if refused == 0 || done == 0 {
		t.Errorf("%d calls were refused and %d done", refused, done)
	}
	if after := server.OwnState(t, srv); after != before {
		t.Errorf("the agent's pane was\n%s\nand is\n%s", before, after)
	}
}

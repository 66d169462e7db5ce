package server

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/tools"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// Tests are not about how long it takes.
func init() { tools.RemovalTime, lookTime = time.Minute, 20*time.Second }

// SetSweepEvery changes how often servers remove what is left of jobs, for the rest of the test.
func SetSweepEvery(t *testing.T, interval time.Duration) {
	before := sweepEvery
	sweepEvery = interval
	t.Cleanup(func() { sweepEvery = before })
}

// allTools returns the tools of every server, in catalogue order.
func allTools(t testing.TB) []*tool.Tool {
	t.Helper()
	s, err := New(Config{Tmux: "/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	return s.order
}

// AddProbes adds tools that show what every call passes, and what the transport does.
func (s *Server) AddProbes() {
	type none struct{}
	s.add(tool.New(tool.Decl{Name: "probe_progress", Title: "t", Kind: tool.Reads, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(ctx context.Context, c tool.Call, _ none) (reply.Text, error) {
		for i := range 5 {
			stdio.Progress(ctx, float64(i), 5, "working")
		}
		stdio.Warn(ctx, "look out")
		return reply.Text{Result: "done"}, nil
	}))
	s.add(tool.New(tool.Decl{Name: "probe_waits", Title: "t", Kind: tool.Reads, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(ctx context.Context, c tool.Call, _ none) (reply.Text, error) {
		for _, done := range []float64{0, 1, 2, 1, 2, 3} { // two waits, one after the other
			stdio.Progress(ctx, done, 5, "waiting")
		}
		return reply.Text{Result: "done"}, nil
	}))
	s.add(tool.New(tool.Decl{Name: "probe_panic", Title: "t", Kind: tool.Reads, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(context.Context, tool.Call, none) (reply.Text, error) { panic("sekrit") }))
	type largeIn struct {
		Size int `json:"size"`
	}
	s.add(tool.New(tool.Decl{Name: "probe_text", Title: "t", Kind: tool.Reads, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(_ context.Context, _ tool.Call, in largeIn) (reply.PaneText, error) {
		return reply.PaneText{Result: reply.Words(strings.Repeat("é\"\n", in.Size/4) + "end"), PaneID: "%1"}, nil
	}))
	s.add(tool.New(tool.Decl{Name: "probe_list", Title: "t", Kind: tool.Reads, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(_ context.Context, _ tool.Call, in largeIn) (reply.List[int], error) {
		l := reply.List[int]{Total: in.Size}
		for i := range in.Size {
			l.Result = append(l.Result, i)
		}
		return l, nil
	}))
	s.add(tool.New(tool.Decl{Name: "probe_error", Title: "t", Kind: tool.Reads, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(_ context.Context, _ tool.Call, in largeIn) (reply.Text, error) {
		return reply.Text{}, reply.Faultf(reply.KindRefused, "%send", strings.Repeat("x", in.Size))
	}))
	flaky := func(name string, k tool.Kind, failure error) {
		var calls atomic.Int32
		s.add(tool.New(tool.Decl{Name: name, Title: "t", Kind: k, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(context.Context, tool.Call, none) (reply.List[int], error) {
			n := calls.Add(1)
			if n == 1 {
				return reply.List[int]{}, &tmux.Error{Command: "list-panes", Err: failure}
			}
			return reply.List[int]{Total: int(n), Result: []int{}}, nil
		}))
	}
	flaky("probe_flaky_read", tool.Reads, tmux.ErrServerGone)
	flaky("probe_flaky_change", tool.Changes, tmux.ErrServerGone)
	flaky("probe_missing", tool.Reads, tmux.ErrNotFound)
	type paneIn struct {
		target.SelectPane
		target.OnSocket
	}
	for _, h := range []guard.Harm{guard.Disturbs, guard.Ends} {
		s.add(tool.New(tool.Decl{Name: map[guard.Harm]string{guard.Disturbs: "probe_disturbs", guard.Ends: "probe_ends"}[h], Title: "t", Kind: tool.Creates, Set: tool.Panes, Desc: "d",
			Aim: target.Need(target.Pane), Harm: h}, func(context.Context, tool.Call, paneIn) (reply.Text, error) { return reply.Text{Result: "did it"}, nil }))
	}
	s.add(typing.Tool(s.services.Keyboard, tool.Decl{Name: "probe_typable", Title: "t", Kind: tool.Shell, Set: tool.Panes, Desc: "d",
		Aim: target.Need(target.Pane)}, func(ctx context.Context, t *typing.Typist, on target.Object, _ paneIn) (reply.Text, error) {
		id, err := t.Type(ctx, on, screen.Echo{}, func(to tmux.Target) ([]tmux.Command, error) {
			return []tmux.Command{tmux.SendKeys{Target: to, Repeat: 1}}, nil
		})
		return reply.Text{Result: reply.Say("%s", id)}, err
	}))
	s.add(tool.New(tool.Decl{Name: "probe_untiered", Title: "t", Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(context.Context, tool.Call, none) (reply.Text, error) { return reply.Text{Result: "ran"}, nil }))
	type secretsIn struct {
		Keys        string           `json:"keys,omitempty"`
		Environment params.StringMap `json:"environment,omitempty"`
		Title       string           `json:"title,omitempty"`
		Operations  params.Raw       `json:"operations,omitempty"`
	}
	s.add(tool.New(tool.Decl{Name: "probe_secrets", Title: "t", Kind: tool.Shell, Set: tool.Panes, Desc: "d", Aim: target.Nowhere, Harm: guard.Harmless}, func(context.Context, tool.Call, secretsIn) (reply.Text, error) {
		return reply.Text{Result: "done"}, nil
	}))
}

// AddUndeclared adds a tool that does not say what it acts on.
func (s *Server) AddUndeclared() {
	s.add(tool.New(tool.Decl{Name: "probe_undeclared", Title: "t", Kind: tool.Creates, Set: tool.Panes, Desc: "d"},
		func(context.Context, tool.Call, struct{}) (reply.Text, error) { return reply.Text{}, nil }))
}

// HoldSlots takes all slots of the tmux server.
func (s *Server) HoldSlots(ctx context.Context) (release func(), err error) {
	var all []func()
	for range sockets.MaxAtOnce {
		slot, err := s.sockets.Slot(ctx, s.sockets.Configured())
		if err != nil {
			return nil, err
		}
		all = append(all, slot.Leave)
	}
	return func() {
		for _, leave := range all {
			leave()
		}
	}, nil
}

// SetConsentWait sets how long the user may take to answer.
func (s *Server) SetConsentWait(d time.Duration) { s.questions.Wait = d }

// SetAnswerWait sets how long an answer counts, from revision 2026-07-28 on.
func (s *Server) SetAnswerWait(d time.Duration) { s.questions.Stands = d }

// SetBufferTime sets how long tmux may take with a buffer.
func (s *Server) SetBufferTime(d time.Duration) { s.services.Buffers.Time = d }

// SetMatchTime sets how long a search may match.
func (s *Server) SetMatchTime(d time.Duration) { s.services.Screens.MatchTime = d }

// SetStartWait sets how long to wait until the program of a new pane runs.
func (s *Server) SetStartWait(d time.Duration) { s.services.Start.StartWait = d }

// SetEndWait sets how long a command may take to count as one that ends at once.
func (s *Server) SetEndWait(d time.Duration) { s.services.Start.EndWait = d }

// SetPromptWait sets how long a shell may take to show its prompt.
func (s *Server) SetPromptWait(d time.Duration) {
	s.services.Keyboard.PromptWait, s.services.Jobs.Shells.PromptTime = d, d
}

// SetReadyWait sets how long the program of a new pane may take to become ready for its
// command.
func (s *Server) SetReadyWait(d time.Duration) { s.services.Start.ReadyWait = d }

// SetPromptStands sets how long a prompt may take to appear, and to disappear once
// submitted.
func (s *Server) SetPromptStands(d time.Duration) { s.services.Prompts.Stands = d }

// SetBeginsWithin sets how long an agent may take to show that it has a prompt.
func (s *Server) SetBeginsWithin(d time.Duration) { s.services.Agents.BeginsWithin = d }

// SetMarkWait sets how long output may still arrive from something known to have ended. It
// returns the previous value.
func (s *Server) SetMarkWait(d time.Duration) (was time.Duration) {
	was, s.services.Jobs.Shells.SettleTime = s.services.Jobs.Shells.SettleTime, d
	return was
}

// SetLookTime sets how long tmux may take to answer a look at a pane.
func (s *Server) SetLookTime(d time.Duration) { s.services.Screens.LookTime = d }

// SetReading sets how often subscribers look at what nothing announces, and are notified of
// output.
func (s *Server) SetReading(d time.Duration) {
	s.following.LeastReading, s.following.FollowInterval = d, d
}

// Subscriptions returns the number of subscriptions.
func (s *Server) Subscriptions() int {
	return s.following.Count()
}

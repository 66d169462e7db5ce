package tmux_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// A list goes on after a condition that is true, and ends at one that is not; either way it
// leaves no output of its own.
func TestRequire(t *testing.T) {
	t.Parallel()
	base := started(t)
	ok(t, do(tmuxtest.Context(t), base, tmux.RenameSession{Name: "a,b}#{c;"}))
	for _, way := range transports {
		srv, ctx := by(t, base, way), tmuxtest.Context(t)
		for _, test := range []struct {
			condition tmux.Format
			target    tmux.Target
			want      bool
		}{
			{"1", nil, true}, {"0", nil, false}, {"#{@nothing}", nil, false}, {"#{pane_id}", tmux.PaneID("%0"), true}, {"#{pane_id}", tmux.PaneID("%99"), false},
			{tmux.MatchEqual("pane_id", "%0"), tmux.PaneID("%0"), true}, {tmux.MatchEqual("pane_id", "%1"), tmux.PaneID("%0"), false},
			{tmux.MatchEqual("session_name", "a,b}#{c;"), tmux.SessionID("$0"), true}, {tmux.Not(tmux.MatchEqual("session_name", "a,b}#{c;")), nil, false},
			{tmux.And("#{pane_id}", tmux.Or("0", tmux.MatchToken("session_name", ";$", tmux.Match{Regexp: true}))), tmux.WindowID("@0"), true},
		} {
			var b tmux.Batch
			before := tmux.Displayed(&b, tmux.DisplayMessage{Message: "before"})
			guard := tmux.Add(&b, tmux.Require{Target: test.target, Condition: test.condition})
			after := tmux.Displayed(&b, tmux.DisplayMessage{Message: "after"})
			err := b.Do(ctx, srv)
			if *before != "before" || len(*guard) > 0 || (*after == "after") != test.want || (err == nil) != test.want {
				t.Errorf("%s %s: %q, %q, %q, %v", way, test.condition, *before, *guard, *after, err)
			}
			if err != nil {
				isKind(t, string(test.condition), err, tmux.ErrUnmet)
				if !strings.Contains(err.Error(), "condition not met") {
					t.Error(err)
				}
			}
		}
		isKind(t, string(way), do(ctx, srv, tmux.Require{}), tmux.ErrArgument)
		// In a list that goes on standard input too.
		err := do(ctx, srv, tmux.Require{Condition: "0"}, tmux.SetOption{Global: true, Name: "@long", Value: ptr(strings.Repeat("x", 20_000))})
		isKind(t, string(way), err, tmux.ErrUnmet)
		equal(t, string(way)+": the option", "", tmuxtest.Run(t, base, "show-options", "-gqv", "@long"))
	}
}

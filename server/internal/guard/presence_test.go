package guard

import (
	"reflect"
	"sync"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/caller"
)

// TestPresenceIsFoundTogether: a call that types into several panes at a time, as
// build_workspace does, asks for the agent's pane from each. The race detector watches.
func TestPresenceIsFoundTogether(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	testserver.Run(t, srv, "new-session", "-d", "cat")
	here, err := caller.Caller{Pane: "%0", Socket: srv.SocketPath()}.On(ctx, srv)
	if err != nil {
		t.Fatal(err)
	}
	g := New(Declared{Tool: "build_workspace", Harm: Types}, srv, here, Rules{}, nil)
	found := make([]Presence, 8)
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() {
			p, err := g.Presence(ctx)
			if err != nil {
				t.Error(err)
			}
			found[i] = p
		})
	}
	all.Wait()
	for _, p := range found {
		if p.None() || p.What() != "pane %0, in which this agent runs" || !reflect.DeepEqual(p, found[0]) {
			t.Errorf("found %+v and %+v", p, found[0])
		}
	}
}

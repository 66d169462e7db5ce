package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/paneprog"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/reply"
)

// TestRowsOfLongPanes: the row of a match is one that capture_pane takes, in a pane that is
// captured in pieces.
func TestRowsOfLongPanes(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	pane := paneprog.Long(t, srv)
	s, err := New(Config{Tmux: srv.Binary(), SocketPath: srv.SocketPath(), Results: reply.ResultsJSON})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(tool, args string) (found struct {
		Matches []struct {
			Lines []string `json:"matched_lines"`
			Rows  []int    `json:"matched_rows"`
		}
		Result string
	}) {
		t.Helper()
		res, err := s.Call(ctx, tool, json.RawMessage(args))
		if err != nil || res.IsError {
			t.Fatalf("%s %s: %v %+v", tool, args, err, res)
		}
		raw, _ := json.Marshal(res.StructuredContent)
		if err := json.Unmarshal(raw, &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	for i := 39; i < 9000; i += 2000 {
		got := answer("search_panes", fmt.Sprintf(`{"pattern":"^L%d .*word38$","regex":true,"content_start":-50000}`, i))
		if len(got.Matches) != 1 || len(got.Matches[0].Rows) != 1 {
			t.Fatalf("L%d: %+v", i, got)
		}
		row := got.Matches[0].Rows[0]
		if text := answer("capture_pane", fmt.Sprintf(`{"pane_id":%q,"start":%d,"end":%d}`, pane, row, row)); !strings.HasPrefix(text.Result, fmt.Sprintf("L%d word0 ", i)) {
			t.Errorf("L%d is said to be in row %d, which is %q", i, row, text.Result)
		}
	}
	if got := answer("capture_pane", fmt.Sprintf(`{"pane_id":%q,"start":-60000,"max_lines":3}`, pane)); !strings.HasSuffix(got.Result, "all") {
		t.Errorf("%q", got.Result)
	}
}

package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
)

// followed is an answer of capture_since.
type followed struct {
	PaneID         string   `json:"pane_id"`
	Cursor         string   `json:"cursor"`
	Lines          []string `json:"lines"`
	Missed         bool     `json:"lines_missed"`
	Truncated      bool     `json:"truncated"`
	TruncatedLines int      `json:"truncated_lines"`
	TruncatedBytes int      `json:"truncated_bytes"`
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestBrokenCursorsAreRefused(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	s := newScreen(t, srv, "a", 40, 6)
	other := newScreen(t, srv, "b", 40, 6)
	p := serve(t, configFor(srv))
	first := ok[followed](p, "capture_since", `{"pane_id":"`+s.pane+`"}`)
	mark, err := base64.RawURLEncoding.DecodeString(first.Cursor)
	if err != nil {
		t.Fatal(err)
	}
	// with is the cursor with another byte, or without its end.
	with := func(i int, c byte) string {
		changed := bytes.Clone(mark)
		changed[i] = c
		return base64.RawURLEncoding.EncodeToString(changed)
	}
	bad := []string{"", "x", "%%%", "capture-since-v1:e30", first.Cursor + "A", with(0, 1), with(0, 9), with(1, 200), with(2, '@'), with(3, 'x'), "abcd.00.1", "abcd.+0.1"}
	for i := range mark {
		bad = append(bad, base64.RawURLEncoding.EncodeToString(mark[:i]))
	}
	for _, bad := range bad {
		for _, args := range []map[string]any{{"cursor": bad}, {"cursor": bad, "pane_id": other.pane}} {
			raw, _ := json.Marshal(args)
			p.fails("capture_since", string(raw), "invalid capture_since cursor: it is not one that this server gave\ncall capture_since without a cursor to begin again")
		}
	}
	args := fmt.Sprintf(`{"cursor":%q,"pane_id":%q}`, first.Cursor, other.pane)
	p.fails("capture_since", args, "cursor pane "+s.pane+" does not match requested pane "+other.pane)
	ok[followed](p, "capture_since", fmt.Sprintf(`{"cursor":%q,"session_name":"a"}`, first.Cursor))
	p.fails("capture_since", fmt.Sprintf(`{"cursor":%q}`, with(3, '9')), "Pane not found: %9")
}

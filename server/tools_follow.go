package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/params"
	"tmuxmcp/tmux"
)

var captureSince = tool[captureSinceIn, *captureSinceResult]{
	name: "capture_since", title: "Capture Since", kind: reads, set: setPanes, core: true, alwaysLoad: true,
	aim: readsOne(aPane),
	desc: "Follow a pane: read only the output that is new since the last call. The first call returns the screen and a cursor; pass the cursor to the " +
		"next call. If output was lost (cleared, resized, trimmed), returns the screen and says so.",
	run: func(ctx context.Context, c *call, in captureSinceIn) (*captureSinceResult, error) {
		start := time.Now()
		target := c.on.target
		var since *captureCursor
		if in.Cursor != nil {
			var err error
			if since, err = c.cursorOf(*in.Cursor); err != nil {
				return nil, err
			}
		}
		var g *grid
		var rows []string
		var err error
		missed := false
		if since == nil {
			if g, err = c.look(ctx, target, nil, gridRequest{from: visible}); err == nil {
				rows = g.from(g.History)
			}
		} else {
			g, rows, missed, err = c.readDelta(ctx, target, since)
		}
		if err != nil {
			return nil, err
		}
		cursor := g.cursorHere().encode()
		if c.s.cursors != nil && c.s.cfg.Results == ResultsText {
			cursor = c.s.cursors.give(g.ID, cursor)
		}
		lines, cutLines, cutBytes := limited(withoutBlankEnd(rows), in.MaxLines, in.MaxBytes)
		return &captureSinceResult{
			PaneID: g.ID, Cursor: cursor, Lines: append([]string{}, lines...), ElapsedSeconds: seconds(time.Since(start)),
			LinesMissed: missed, Truncated: cutLines > 0 || cutBytes > 0, TruncatedLines: cutLines, TruncatedBytes: cutBytes,
		}, nil
	},
}

type captureSinceIn struct {
	Cursor *string `json:"cursor,omitempty" desc:"from the last call; omit to begin"`
	paneSelect
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	MaxBytes *int `json:"max_bytes" default:"128000" min:"1" desc:"the last; null: all"`
	socket
}

// selection is the pane of the cursor if the call names none.
func (in captureSinceIn) selection() selection {
	s := in.paneSelect.selection()
	if in.Cursor != nil && s.zero() {
		if _, pane, ok := shortCursor(*in.Cursor); ok {
			s.pane = pane
		} else if since, err := decodeCursor(*in.Cursor); err == nil {
			s.pane = since.PaneID
		}
	}
	return s
}

type captureSinceResult struct {
	PaneID         tmux.PaneID `json:"pane_id"`
	Cursor         string      `json:"cursor"`
	Lines          []string    `json:"lines" exact:"true"`
	ElapsedSeconds float64     `json:"elapsed_seconds"`
	LinesMissed    bool        `json:"lines_missed"`
	Truncated      bool        `json:"truncated"`
	TruncatedLines int         `json:"truncated_lines"`
	TruncatedBytes int         `json:"truncated_bytes"`
}

// captureCursor is a place in a pane's output: the row of its cursor, and what
// then stood there and below. It is libtmux-mcp's, version 1, and a trace.
type captureCursor struct {
	AnchorAbs   int         `json:"anchor_abs"`
	AnchorHash  *string     `json:"anchor_hash"` // nil when there was no text from there on
	BelowHashes []string    `json:"below_hashes"`
	HistorySize int         `json:"history_size"`
	PaneHeight  int         `json:"pane_height"`
	PaneID      tmux.PaneID `json:"pane_id"`
	PanePID     string      `json:"pane_pid"`
	Version     int         `json:"version"`
	trace
}

const cursorPrefix = "capture-since-v1:"

func (k *captureCursor) encode() string {
	raw, err := params.Marshal(k)
	if err != nil {
		panic(err) // it holds strings and numbers
	}
	return cursorPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

func decodeCursor(s string) (*captureCursor, error) {
	invalid := func(reason string) error {
		return invalidCursor(reason, "")
	}
	encoded, ok := strings.CutPrefix(s, cursorPrefix)
	if !ok {
		return nil, invalid("unsupported cursor format")
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil || !json.Valid(raw) {
		return nil, invalid("could not decode payload")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, invalid("payload is not an object")
	}
	k := new(captureCursor)
	if json.Unmarshal(fields["version"], &k.Version) != nil || k.Version != 1 {
		return nil, invalid("unsupported cursor version")
	}
	for _, f := range []struct {
		name string
		into any
		good func() bool
	}{
		{"anchor_hash", &k.AnchorHash, func() bool { return true }},
		{"below_hashes", &k.BelowHashes, func() bool { return k.BelowHashes != nil }},
		{"pane_id", &k.PaneID, func() bool { return k.PaneID.Valid() }},
		{"pane_pid", &k.PanePID, func() bool { return k.PanePID != "" }},
		{"history_size", &k.HistorySize, func() bool { return k.HistorySize >= 0 && !params.IsNull(fields["history_size"]) }},
		{"pane_height", &k.PaneHeight, func() bool { return k.PaneHeight >= 0 && !params.IsNull(fields["pane_height"]) }},
		{"anchor_abs", &k.AnchorAbs, func() bool { return k.AnchorAbs >= 0 && !params.IsNull(fields["anchor_abs"]) }},
	} {
		value, ok := fields[f.name]
		if !ok && f.name == "anchor_hash" {
			continue
		}
		if !ok || json.Unmarshal(value, f.into) != nil || !f.good() {
			return nil, invalid("missing or invalid " + f.name)
		}
	}
	if json.Unmarshal(raw, &k.trace) != nil {
		return nil, invalid("its trace is broken")
	}
	k.history, k.cursor = k.HistorySize, k.AnchorAbs
	return k, nil
}

func rowHash(row string) string {
	sum := sha256.Sum256([]byte(row))
	return hex.EncodeToString(sum[:])
}

// cursorHere is the cursor that a next call begins at.
func (g *grid) cursorHere() *captureCursor {
	k := &captureCursor{
		AnchorAbs: g.cursor(), HistorySize: g.History, PaneHeight: g.Height, PaneID: g.ID, PanePID: g.PID, Version: 1, BelowHashes: []string{},
		trace: g.trace(),
	}
	for i, row := range withoutBlankEnd(g.from(g.cursor())) {
		hash := rowHash(row)
		if i == 0 {
			k.AnchorHash = &hash
		} else {
			k.BelowHashes = append(k.BelowHashes, hash)
		}
	}
	return k
}

// check refuses a pane whose program ended, or which is not the one of a cursor.
func (g *grid) check(since *captureCursor) error {
	switch {
	case since != nil && since.PaneID != g.ID:
		return faultf(kindValidation, "cursor pane %s does not match requested pane %s", since.PaneID, g.ID).suggest("leave the target out, or begin without a cursor")
	case g.Dead, since != nil && g.PID == "" && since.PanePID != "":
		return g.died(nil)
	case since != nil && since.PanePID != g.PID:
		return g.respawned(since.PanePID, nil)
	}
	return nil
}

// followSlack is how many rows a pane may print between two calls without costing
// another round trip.
const followSlack = 500

// look reads a pane, with what a trace needs, and checks that it is the one of a
// cursor.
func (c *call) look(ctx context.Context, target tmux.Target, since *captureCursor, want gridRequest) (*grid, error) {
	g, err := c.readGrid(ctx, target, want)
	if err != nil {
		return nil, err
	}
	if g.Alternate {
		hidden, err := c.readHidden(ctx, g.ID)
		if err != nil {
			return nil, err
		}
		g.hidden = g.hides(hidden)
	}
	return g, g.check(since)
}

// readDelta reads the rows that are new since a cursor, or the screen when some
// may be missed.
func (c *call) readDelta(ctx context.Context, target tmux.Target, since *captureCursor) (g *grid, rows []string, missed bool, err error) {
	g, err = c.look(ctx, target, since, gridRequest{from: max(0, min(since.AnchorAbs, since.HistorySize)-traceRows), history: since.HistorySize, slack: followSlack})
	if err != nil {
		return nil, nil, false, err
	}
	lost := since.lost(g.paneState)
	if since.mayBeTrimmed(g.paneState) {
		// The numbers of the rows may have changed, and any of them may be wanted.
		lost = false
		if g, err = c.look(ctx, target, since, gridRequest{history: g.History}); err != nil {
			return nil, nil, false, err
		}
	}
	shift, ok := since.moved(g)
	if at := since.AnchorAbs - shift; ok && !lost && at >= g.top {
		return g, since.unseen(withoutBlankEnd(g.from(at))), false, nil
	}
	return g, g.from(g.History), true, nil
}

// lost reports whether the cursor's row is certainly gone. A pane that gets
// higher takes rows back from the history, which loses none.
func (k *captureCursor) lost(now paneState) bool {
	return k.AnchorAbs > now.History+now.Height-1 ||
		now.History == 0 && k.HistorySize > 0 ||
		now.History < k.HistorySize && now.Height <= k.PaneHeight
}

// unseen leaves out the rows that were there when the cursor was made: its own,
// unless it was written over, and those below up to the first that is new.
func (k *captureCursor) unseen(rows []string) []string {
	if len(rows) == 0 {
		return nil
	}
	var out []string
	seen := rows[0] == ""
	if k.AnchorHash != nil {
		seen = rowHash(rows[0]) == *k.AnchorHash
	}
	if !seen {
		out = append(out, rows[0])
	}
	rest := rows[1:]
	for _, hash := range k.BelowHashes {
		if len(rest) == 0 || rowHash(rest[0]) != hash {
			break
		}
		rest = rest[1:]
	}
	return append(out, rest...)
}

// died is the error that ends a wait, or following a pane, when the pane's program
// has ended and the pane remains. It quotes the last lines.
func (s paneState) died(last []string) *fault {
	status := ""
	if s.DeadStatus != nil {
		status = fmt.Sprintf(" with status %d", *s.DeadStatus)
	}
	return faultf(kindPaneGone, "pane_gone: pane %s died: its program ended%s", s.ID, status).
		suggest("capture_pane still reads it, respawn_pane starts it again%s", lastWords(last))
}

// respawned is the same for a pane in which another program runs now.
func (s paneState) respawned(pid string, last []string) *fault {
	return faultf(kindPaneGone, "pane_gone: pane %s was respawned (pid %s -> %s): what was there is gone", s.ID, pid, s.PID).
		suggest("call again to look at the new program%s", lastWords(last))
}

// lastWords are the last lines that a pane showed.
func lastWords(lines []string) string {
	const maxLines, maxBytes = 5, 500
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" })
	if len(lines) == 0 {
		return ""
	}
	n, size := maxLines, maxBytes
	kept, _, _ := limited(lines, &n, &size)
	return "; its last lines were:\n" + strings.Join(kept, "\n")
}

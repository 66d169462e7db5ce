package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"tmuxmcp/server/params"
	"tmuxmcp/tmux"
)

var captureSince = tool[captureSinceIn, *captureSinceResult]{
	name: "capture_since", title: "Capture Since", kind: reads, set: setPanes, core: true, alwaysLoad: true,
	aim: readsOne(aPane),
	desc: "Follow a pane: read only the lines that are new or changed since the last call, on the normal and the alternate screen. The first call " +
		"returns the screen and a cursor; pass the cursor to the next call. Says so if output may have been lost.",
	run: func(ctx context.Context, c *call, in captureSinceIn) (*captureSinceResult, error) {
		start := time.Now()
		var l *tmux.Look
		var lines []string
		var err error
		if in.Cursor == nil {
			if l, err = c.lookSince(ctx, c.on.target, nil); err == nil {
				lines = l.Lines()
			}
		} else {
			l, lines, err = c.readSince(ctx, *in.Cursor)
		}
		switch {
		case err != nil:
			return nil, err
		case l.Dead:
			return nil, died(l)
		}
		lines, cutLines, cutBytes := limited(lines, in.MaxLines, in.MaxBytes)
		return &captureSinceResult{
			PaneID: l.ID, Cursor: c.cursorFor(l), Lines: append([]string{}, lines...), ElapsedSeconds: seconds(time.Since(start)),
			LinesMissed: l.Missed, Truncated: cutLines > 0 || cutBytes > 0, TruncatedLines: cutLines, TruncatedBytes: cutBytes,
		}, nil
	},
}

type captureSinceIn struct {
	Cursor *string `json:"cursor,omitempty" desc:"from the last call; omit to begin"`
	paneSelect
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	MaxBytes *int `json:"max_bytes" default:"128000" min:"1" unlisted:"true"`
	socket
}

// selection is the pane of the cursor if the call names none.
func (in captureSinceIn) selection() selection {
	s := in.paneSelect.selection()
	if in.Cursor != nil && s.zero() {
		s.pane = paneOfCursor(*in.Cursor)
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

// readSince reads what is new since a cursor.
func (c *call) readSince(ctx context.Context, cursor string) (*tmux.Look, []string, error) {
	since, err := c.cursorOf(cursor)
	if err != nil {
		return nil, nil, err
	}
	l, err := c.lookSince(ctx, c.on.target, since)
	if err != nil {
		return nil, nil, err
	}
	if since.Foreign() {
		l.Missed = true
		return l, l.Lines(), nil
	}
	return l, l.New, nil
}

// paneID is the id of the pane that the call is about.
func (c *call) paneID(ctx context.Context) (tmux.PaneID, error) {
	if id, ok := c.on.target.(tmux.PaneID); ok {
		return id, nil
	}
	row, err := tmux.List[taker](ctx, c.tmux, tmux.DisplayMessage{Target: c.on.target})
	if err != nil {
		return "", err
	}
	if row[0].ID == "" {
		return "", c.missing(ctx, c.on.selection)
	}
	return row[0].ID, nil
}

// captureCursor is a cursor as other programs may keep it: what libtmux-mcp's version 1 has, and the
// mark of a look. libtmux-mcp's own have none.
type captureCursor struct {
	AnchorAbs   int         `json:"anchor_abs"`
	BelowHashes []string    `json:"below_hashes"`
	HistorySize int         `json:"history_size"`
	PaneHeight  int         `json:"pane_height"`
	PaneID      tmux.PaneID `json:"pane_id"`
	PanePID     string      `json:"pane_pid"`
	Version     int         `json:"version"`
	Mark        []byte      `json:"mark,omitempty"`
}

const cursorPrefix = "capture-since-v1:"

// longCursor is the cursor of a look.
func longCursor(l *tmux.Look) string {
	mark, err := l.Mark().MarshalBinary()
	if err != nil {
		panic(err) // it holds strings and numbers
	}
	raw, err := params.Marshal(captureCursor{
		AnchorAbs: l.History + l.CursorY, BelowHashes: []string{}, HistorySize: l.History, PaneHeight: l.Height,
		PaneID: l.ID, PanePID: l.PID, Version: 1, Mark: mark,
	})
	if err != nil {
		panic(err)
	}
	return cursorPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

func decodeCursor(s string) (*tmux.Mark, error) {
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
	var k captureCursor
	if json.Unmarshal(fields["version"], &k.Version) != nil || k.Version != 1 {
		return nil, invalid("unsupported cursor version")
	}
	for _, f := range []struct {
		name string
		into any
		good func() bool
	}{
		{"below_hashes", &k.BelowHashes, func() bool { return k.BelowHashes != nil }},
		{"pane_id", &k.PaneID, func() bool { return k.PaneID.Valid() }},
		{"pane_pid", &k.PanePID, func() bool { return k.PanePID != "" }},
		{"history_size", &k.HistorySize, func() bool { return k.HistorySize >= 0 && !params.IsNull(fields["history_size"]) }},
		{"pane_height", &k.PaneHeight, func() bool { return k.PaneHeight >= 0 && !params.IsNull(fields["pane_height"]) }},
		{"anchor_abs", &k.AnchorAbs, func() bool { return k.AnchorAbs >= 0 && !params.IsNull(fields["anchor_abs"]) }},
	} {
		if value, ok := fields[f.name]; !ok || json.Unmarshal(value, f.into) != nil || !f.good() {
			return nil, invalid("missing or invalid " + f.name)
		}
	}
	m := &tmux.Mark{Pane: k.PaneID, PID: k.PanePID}
	if _, ok := fields["mark"]; !ok {
		return m, nil
	}
	if json.Unmarshal(fields["mark"], &k.Mark) != nil || m.UnmarshalBinary(k.Mark) != nil || m.Pane != k.PaneID {
		return nil, invalid("missing or invalid mark")
	}
	return m, nil
}

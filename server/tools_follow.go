package server

import (
	"context"
	"time"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

var captureSince = newTool(tool{
	name: "capture_since", title: "Capture Since", kind: reads, set: setPanes, core: true, alwaysLoad: true,
	aim: defaults(aPane),
	desc: "Follow a pane: read only the lines that are new or changed since the last call, on the normal and the alternate screen. The first call " +
		"returns the screen and a cursor; pass the cursor to the next call. Says so if output may have been lost.",
}, func(ctx context.Context, c *call, in captureSinceIn) (*captureSinceResult, error) {
	start := time.Now()
	var since bookmark
	if in.Cursor != nil {
		var err error
		if since, err = c.cursorOf(*in.Cursor); err != nil {
			return nil, err
		}
	}
	l, err := c.lookSince(ctx, c.on.target, since.mark)
	switch {
	case err != nil:
		return nil, err
	case l.Dead:
		return nil, died(l)
	}
	same := false // what is left of the cursor
	if since.mark != nil {
		typed := l.Mark().Typed()
		same = sameButDigits(since.mark.Typed(), typed) && (since.prompt || typed != "")
	}
	lines, missed, prompt := l.New, l.Missed, atPrompt(caller.PID(ctx, c.tmux, l.PaneState), l, since.prompt && same)
	switch {
	case since.mark == nil:
		lines = l.Lines()
	case same && prompt && redrawn(l):
		lines, missed = nil, false
	}
	lines, cutLines, cutBytes := reply.Limited(lines, in.MaxLines, in.MaxBytes)
	return &captureSinceResult{
		PaneID: l.ID, Cursor: c.cursorFor(l, prompt), Lines: append([]string{}, lines...), ElapsedSeconds: reply.Seconds(time.Since(start)),
		LinesMissed: missed, Truncated: cutLines > 0 || cutBytes > 0, TruncatedLines: cutLines, TruncatedBytes: cutBytes,
	}, nil
})

type captureSinceIn struct {
	Cursor *string `json:"cursor,omitempty" desc:"from the last call; omit to begin"`
	paneSelect
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	MaxBytes *int `json:"max_bytes" default:"128000" min:"1" unlisted:"true"`
	socket
}

// selection returns the cursor's pane if the call names none.
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

// paneID returns the id of the pane that the call is about.
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

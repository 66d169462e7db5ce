package tools

import (
	"context"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func captureSince(r *screen.Reader) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "capture_since", Title: "Capture Since", Kind: tool.Reads, Set: tool.Panes, Core: true, AlwaysLoad: true,
		Aim: target.Default(target.Pane),
		Desc: "Follow a tmux pane: read only the lines that are new or changed since the last call, on the normal and the alternate screen. The first call " +
			"returns the screen and a cursor; pass that to the next. Says so if output may have been lost.",
	}, func(ctx context.Context, c tool.Call, in captureSinceIn) (*captureSinceResult, error) {
		start := time.Now()
		var since screen.Bookmark
		if in.Cursor != nil {
			var err error
			if since, err = r.BookmarkOf(*in.Cursor); err != nil {
				return nil, err
			}
		}
		n, err := r.News(ctx, c.Source, c.On.Target, since)
		if err != nil {
			return nil, err
		}
		lines, cutLines, cutBytes := reply.Limited(n.Lines, in.MaxLines, in.MaxBytes)
		return &captureSinceResult{
			PaneID: n.PaneID, Cursor: n.Cursor, Lines: append([]string{}, lines...), ElapsedSeconds: reply.Seconds(time.Since(start)),
			LinesMissed: n.Missed, Truncated: cutLines > 0 || cutBytes > 0, TruncatedLines: cutLines, TruncatedBytes: cutBytes,
		}, nil
	})
}

type captureSinceIn struct {
	Cursor *string `json:"cursor,omitempty" desc:"from the last call; omit to begin"`
	target.SelectPane
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	MaxBytes *int `json:"max_bytes" default:"128000" min:"1" unlisted:"true"`
	target.OnSocket
}

// Selected returns the cursor's pane if the call names none.
func (in captureSinceIn) Selected() target.Selection {
	s := in.SelectPane.Selected()
	if in.Cursor != nil && s.Zero() {
		s.Pane = screen.PaneOfCursor(*in.Cursor)
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

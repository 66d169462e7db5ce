package tools

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

var capturePane = tool.New(tool.Decl{
	Name: "capture_pane", Title: "Capture Pane", Kind: tool.Reads, Set: tool.Panes, Core: true,
	Aim:  target.Default(target.Pane),
	Hint: "read scrollback or history",
	Desc: "Read text of a tmux pane from its screen and scrollback (history), by line range. Defaults to the visible screen of the caller's pane. For " +
		"screen and state in one call use snapshot_pane; to follow output use capture_since.",
}, func(ctx context.Context, c tool.Call, in capturePaneIn) (screenText, error) {
	at := c.On.Target
	var b tmux.Batch
	panes := tmux.AddRows[paneSnapshot](&b, tmux.DisplayMessage{Target: at}, "pane_id", "pane_height", "pane_width", "history_size")
	capture := tmux.CapturePane{
		Target: at, Print: true, Start: in.Start, End: in.End,
		Escapes: in.Colors, Join: in.Join, Alternate: in.Hidden, Pending: in.Pending,
	}
	captured := new([]byte)
	long := in.long()
	if !long {
		captured = tmux.Add(&b, capture)
	}
	var hidden *[]byte // it may have a different height
	if in.Hidden {
		hidden = tmux.Add(&b, tmux.CapturePane{Target: at, Print: true, Alternate: true})
	}
	if err := b.Do(ctx, c.Tmux); err != nil {
		return screenText{}, err
	}
	pane := (*panes)[0]
	out := screenText{PaneID: string(pane.PaneID), FirstLine: -pane.HistorySize, LastLine: pane.PaneHeight - 1}
	if hidden != nil {
		out.FirstLine, out.LastLine = 0, bytes.Count(*hidden, []byte("\n"))-1
	}
	if in.Pending {
		out.Result = strings.TrimSuffix(string(*captured), "\n")
		return out, nil
	}
	if out.Outside = in.outside(out.FirstLine, out.LastLine); out.Outside {
		return out, nil
	}
	if long {
		capture.Target = pane.PaneID
		from, to := max(int(in.Start), out.FirstLine), out.LastLine
		if in.End != nil && *in.End != tmux.LineEdge {
			to = min(max(int(*in.End), out.FirstLine), to)
		}
		var err error
		if *captured, err = screen.InPieces(ctx, c.Tmux, capture, [2]int{min(from, to), max(from, to)}, pane.HistorySize, pane.PaneWidth, mostCaptured); err != nil {
			return out, err
		}
	}
	lines, cut := reply.LastLines(screen.Lines(*captured), in.MaxLines)
	if cut > 0 {
		lines = append([]string{fmt.Sprintf("[... truncated %d lines ...]", cut)}, lines...)
	}
	out.Result = strings.Join(lines, "\n")
	return out, nil
})

// mostCaptured is how much text is captured at once, in bytes.
const mostCaptured = 16 << 20

// long reports whether these may be more lines than one list should capture.
func (in capturePaneIn) long() bool {
	return !in.Hidden && !in.Pending && (in.Start == tmux.LineEdge || in.Start < -screen.MostCells/100)
}

// outside reports whether a pane with lines first to last has none of the requested ones:
// tmux then answers with the nearest.
func (in capturePaneIn) outside(first, last int) bool {
	from := int(in.Start)
	to := max(from, last)
	if in.End != nil && *in.End != tmux.LineEdge {
		to = int(*in.End)
	}
	return max(from, to) < first || min(from, to) > last
}

type capturePaneIn struct {
	target.SelectPane
	Start    tmux.Line  `json:"start,omitempty" desc:"first line: 0 is the top of the screen, -9 above it; default 0"`
	End      *tmux.Line `json:"end,omitempty" desc:"last line; default: the bottom of the screen"`
	MaxLines *int       `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	Colors   bool       `json:"colors,omitempty" desc:"keep escape sequences"`
	Join     bool       `json:"join,omitempty" desc:"join wrapped lines"`
	Hidden   bool       `json:"hidden,omitempty" desc:"the screen under a full-screen program"`
	Pending  bool       `json:"pending,omitempty" unlisted:"true"`
	target.OnSocket
}

// paneSnapshot is a pane's content and state at one moment.
type paneSnapshot struct {
	PaneID     tmux.PaneID `json:"pane_id" tmux:"pane_id"`
	Content    string      `json:"content" exact:"true"`
	CursorX    int         `json:"cursor_x" tmux:"cursor_x"`
	CursorY    int         `json:"cursor_y" tmux:"cursor_y"`
	PaneWidth  int         `json:"pane_width" tmux:"pane_width"`
	PaneHeight int         `json:"pane_height" tmux:"pane_height"`
	rows.Edges
	PanePID               *int    `json:"pane_pid" tmux:"pane_pid"`
	PaneDead              bool    `json:"pane_dead" tmux:"pane_dead"`
	AlternateOn           bool    `json:"alternate_on" tmux:"alternate_on"`
	PaneInMode            bool    `json:"pane_in_mode" tmux:"pane_in_mode"`
	PaneMode              *string `json:"pane_mode" tmux:"pane_mode"`
	ScrollPosition        *int    `json:"scroll_position" tmux:"scroll_position"`
	HistorySize           int     `json:"history_size" tmux:"history_size"`
	Title                 *string `json:"title" tmux:"pane_title"`
	PaneCurrentCommand    *string `json:"pane_current_command" tmux:"pane_current_command"`
	PaneCurrentPath       *string `json:"pane_current_path" tmux:"pane_current_path"`
	IsCaller              *bool   `json:"is_caller"`
	ContentTruncated      bool    `json:"content_truncated"`
	ContentTruncatedLines int     `json:"content_truncated_lines"`
}

var snapshotPane = tool.New(tool.Decl{
	Name: "snapshot_pane", Title: "Snapshot Pane", Kind: tool.Reads, Set: tool.Panes, Core: true, AlwaysLoad: true,
	Aim: target.Default(target.Pane),
	Desc: "See a tmux pane's screen now: visible text, cursor position, size, running command, directory, mode. Use it for full-screen programs (vim, less, " +
		"menus). Defaults to the caller's pane.",
}, func(ctx context.Context, c tool.Call, in snapshotPaneIn) (*paneSnapshot, error) {
	at := c.On.Target
	var b tmux.Batch
	panes := tmux.AddRows[paneSnapshot](&b, tmux.DisplayMessage{Target: at})
	captured := tmux.Add(&b, tmux.CapturePane{Target: at, Print: true})
	if err := b.Do(ctx, c.Tmux); err != nil {
		return nil, err
	}
	snap := &(*panes)[0]
	lines, cut := reply.LastLines(screen.Lines(*captured), in.MaxLines)
	snap.Content = strings.Join(lines, "\n")
	snap.ContentTruncated, snap.ContentTruncatedLines = cut > 0, cut
	snap.IsCaller = c.Here.Is(snap.PaneID)
	return snap, nil
})

type snapshotPaneIn struct {
	target.SelectPane
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	target.OnSocket
}

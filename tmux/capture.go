package tmux

import (
	"bytes"
	"context"
	"io"
	"math"
	"strconv"

	"tmuxmcp/internal/turns"
	"tmuxmcp/tmux/internal/wire"
)

// Line is the number of a line in a pane: 0 is the first line of the screen; negative
// numbers count back into the history, from -1, the newest.
type Line int

// LineEdge is the oldest line of the history as a start, the last of the screen as an end.
const LineEdge Line = math.MinInt

func (l Line) String() string {
	if l == LineEdge {
		return "-"
	}
	return strconv.Itoa(int(l))
}

// CapturePane copies lines of a pane, by default its screen, into a paste buffer or, with
// Print, to the output.
//
// The output consists of whole lines: tmux strips a final newline from the captured text
// and adds one. A tab that the program printed is a tab from tmux 3.6 on, and spaces before.
type CapturePane struct {
	Target Target `flag:"t"`
	Start  Line   `flag:"S"`
	// End is the last line; nil is the last of the screen.
	End *Line `flag:"E"`
	// Print writes to the output instead of a paste buffer.
	Print bool `flag:"p"`
	// Buffer is the paste buffer to write to; a new one if empty.
	Buffer string `flag:"b"`
	// Alternate captures the screen that the alternate screen hides. If the alternate
	// screen is not in use, the command fails or, with Quiet, prints nothing.
	Alternate bool `flag:"a"`
	Quiet     bool `flag:"q"`
	// Escapes keeps colours and attributes as escape sequences.
	Escapes bool `flag:"e"`
	// Octal writes unprintable characters, including escape sequences, as \ooo.
	Octal bool `flag:"C"`
	// Join joins wrapped lines and keeps spaces at the end of lines.
	Join bool `flag:"J"`
	// KeepSpaces keeps spaces at the end of lines.
	KeepSpaces bool `flag:"N"`
	// UsedCells leaves out cells at the end of a line that were never written to.
	UsedCells bool `flag:"T" since:"3.4"`
	// Mode captures the screen of the pane's mode, such as copy mode.
	Mode bool `flag:"M" since:"3.6"`
	// Pending captures output of the program that tmux has read but not yet drawn, because
	// it is the start of an unfinished escape sequence. Of the other fields only Octal has
	// an effect. See [PaneRef.Pending].
	Pending bool `flag:"P"`
	// Flags prefixes each line with its flags, letters such as W for a wrapped line.
	Flags bool `flag:"F" since:"3.7"`
	// Hyperlinks captures the addresses of hyperlinks instead of the text.
	Hyperlinks bool `flag:"H" since:"3.7"`
	// Numbers prefixes each line with its number.
	Numbers bool `flag:"L" since:"3.7"`
	// Times prefixes each line with its time.
	Times bool `flag:"I" since:"3.8"`
	// Cells describes the grid cell by cell, in the format of tmux's own tests.
	Cells bool `flag:"R" since:"3.8"`
}

// ClearHistory clears a pane's history and exits its mode.
type ClearHistory struct {
	Target Target `flag:"t"`
	// Hyperlinks also removes the pane's hyperlinks.
	Hyperlinks bool `flag:"H" since:"3.4"`
}

func (CapturePane) commandName() string  { return "capture-pane" }
func (ClearHistory) commandName() string { return "clear-history" }

// Capture returns lines of the pane: for the zero CapturePane, the text of the screen. It
// sets the target, and Print unless Buffer is set. To capture several panes in one round
// trip, [Add] a CapturePane for each to a [Batch], or see [Server.CaptureAll].
func (r PaneRef) Capture(ctx context.Context, what CapturePane) ([]byte, error) {
	what.Target, what.Print = own(r, what.Target), what.Buffer == ""
	return r.srv.output(ctx, what)
}

// CaptureTo writes what [PaneRef.Capture] returns to w, as it arrives and whatever its size:
// a whole history may be more than the 16 MB that a call returns. what.Buffer must be empty.
// The context does not bound writing to w.
func (r PaneRef) CaptureTo(ctx context.Context, w io.Writer, what CapturePane) error {
	if what.Buffer != "" {
		return argumentError("capture %s: to a paste buffer (%s) and to a writer", r.ID, what.Buffer)
	}
	what.Target, what.Print = own(r, what.Target), true
	return r.srv.run(ctx, streamed{what, w})
}

// CaptureAll captures lines of groups of panes, each group as one text, in one list of
// commands: tmux takes longer to separate two outputs than to capture a screen with few
// lines. It sets Print.
//
// The search of the MCP server has a turn in the context: it is locked while tmux has the
// list and has not run it, and waited for even if the context ends. Of calls that share it,
// tmux runs one at a time, while it accepts the next and prints the last.
func (s *Server) CaptureAll(ctx context.Context, groups [][]CapturePane) ([][]byte, error) {
	if err := s.usable(); err != nil || len(groups) == 0 {
		return nil, err
	}
	list := make([]item, len(groups))
	for i, group := range groups {
		if len(group) == 0 {
			return nil, argumentError("a group without panes")
		}
		captures := make([]encoded, len(group))
		for j, what := range group {
			what.Print = true
			var err error
			if captures[j], _, err = s.encode(ctx, what); err != nil {
				return nil, err
			}
		}
		last := len(group) - 1
		list[i] = newItem(captures[last], captures[:last]...)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	turn := turns.OfList(ctx)
	if turn == nil {
		return s.roundTrip(ctx, list, nil)
	}
	list[0].turn = &wire.RunTurn{Locker: turn}
	defer list[0].turn.End()
	return s.roundTrip(ctx, list, list[0].turn.End)
}

// Pending returns output of the program that tmux is holding back: the start of an escape
// sequence that is not complete yet. It is almost always empty.
func (r PaneRef) Pending(ctx context.Context) ([]byte, error) {
	// Octal, because tmux strips a final newline from its output.
	out, err := r.Capture(ctx, CapturePane{Pending: true, Octal: true})
	if err != nil {
		return nil, err
	}
	return []byte(unescape(string(bytes.TrimSuffix(out, []byte("\n"))), false)), nil
}

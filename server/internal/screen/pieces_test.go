package screen

import (
	"strings"
	"testing"

	"tmuxmcp/internal/test/paneprog"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// TestLongPanesInPieces: what is captured in pieces is what one list captures, wrapped lines
// at the seams included.
func TestLongPanesInPieces(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	pane := paneprog.Long(t, srv)
	listed, err := tmux.List[PaneMatch](ctx, srv, tmux.DisplayMessage{Target: pane})
	if err != nil {
		t.Fatal(err)
	}
	p := listed[0]
	if pieces := (p.History + p.Height) * p.Width / MostCells; pieces < 3 {
		t.Fatalf("the pane has %d rows, too few for several pieces", p.History)
	}
	for _, capture := range []tmux.CapturePane{{Join: true}, {}, {KeepSpaces: true}} {
		capture.Target, capture.Print = pane, true
		for _, span := range [][2]int{{-p.History, p.Height - 1}, {-p.History + 1, 0}, {-p.History, -p.History + MostCells/p.Width + 1}} {
			end := tmux.Line(span[1])
			whole := capture
			whole.Start, whole.End = tmux.Line(span[0]), &end
			want, err := srv.Do(ctx, whole)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := InPieces(ctx, srv, capture, span, p.History, p.Width, mostSearched); err != nil || string(got) != string(want[0]) {
				t.Errorf("%+v, rows %d: %d bytes instead of %d, %v", capture, span, len(got), len(want[0]), err)
			}
			// Lines printed since the size of the history was read.
			moved := [2]int{span[0] + 7, span[1] + 7}
			if got, err := InPieces(ctx, srv, capture, moved, p.History-7, p.Width, mostSearched); err != nil || string(got) != string(want[0]) {
				t.Errorf("%+v, rows %d, moved: %d bytes instead of %d, %v", capture, span, len(got), len(want[0]), err)
			}
		}
		if _, err := InPieces(ctx, srv, capture, [2]int{-p.History, 0}, p.History, p.Width, 1000); err == nil || !strings.Contains(err.Error(), "these lines have more than") {
			t.Errorf("more than fits: %v", err)
		}
	}
}

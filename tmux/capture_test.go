package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/turns"
	"tmuxmcp/tmux"
)

// TestCaptureAll: the text is what the panes show one after the other, in a list of any
// length. It fails if one of them is gone.
func TestCaptureAll(t *testing.T) {
	t.Parallel()
	base, ctx := testserver.Started(t), testserver.Context(t)
	var captures []tmux.CapturePane
	var want [][]byte
	for i := range 3 {
		pane := testserver.Drawn(t, base, fmt.Sprintf("printf 'one %d\n\ntwo'", i))
		testserver.WaitScreen(t, base, string(pane.ID), "two")
		captures = append(captures, tmux.CapturePane{Target: pane.ID, Join: true})
		want = append(want, check.Must[[]byte](t)(pane.Capture(ctx, tmux.CapturePane{Join: true})))
	}
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		srv := testserver.By(t, base, way)
		for _, times := range []int{1, 200} {
			got := check.Must[[][]byte](t)(srv.CaptureAll(ctx, [][]tmux.CapturePane{slices.Repeat(captures, times), captures[:1], captures}))
			all := [][]byte{bytes.Repeat(bytes.Join(want, nil), times), want[0], bytes.Join(want, nil)}
			check.Equal(t, fmt.Sprintf("%s: the panes %d times", way, times), fmt.Sprintf("%q", all), fmt.Sprintf("%q", got))
		}
		gone := [][]tmux.CapturePane{captures, {captures[0], {Target: tmux.PaneID("%99")}}, captures}
		got, err := srv.CaptureAll(ctx, gone)
		var e *tmux.Error
		if !errors.As(err, &e) || !errors.Is(err, tmux.ErrNotFound) || e.Object.Name != "%99" {
			t.Errorf("%s: of panes one of which is gone: %q, %v", way, got, err)
		}
		got, err = srv.CaptureAll(ctx, nil)
		check.That(t, err == nil && got == nil, "%s: of no panes: %q, %v", way, got, err)
		check.Kind(t, "a group without panes", check.Second(srv.CaptureAll(ctx, [][]tmux.CapturePane{captures, nil})), tmux.ErrArgument)
	}
}

// TestCaptureAllTakesTurns: a call has its turn before the server gets the list, and until
// it has run all of it.
func TestCaptureAllTakesTurns(t *testing.T) {
	t.Parallel()
	base, ctx := testserver.Started(t), testserver.Context(t)
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		for _, c := range []struct {
			erased string
			drawn  int
		}{{"as the turn begins", 0}, {"as the turn ends", 100}} {
			pane := testserver.Drawn(t, base, "printf drawn")
			testserver.WaitScreen(t, base, string(pane.ID), "drawn")
			turn := &captureTurn{begin: func() {}, end: func() {}}
			erase := func() { check.OK(t, do(ctx, base, tmux.SendKeys{Target: pane.ID, Reset: true})) }
			if turn.end = erase; c.drawn == 0 {
				turn.begin, turn.end = erase, turn.begin
			}
			captures := slices.Repeat([]tmux.CapturePane{{Target: pane.ID}}, 100)
			got := check.Must[[][]byte](t)(testserver.By(t, base, way).CaptureAll(turns.WithList(ctx, turn), [][]tmux.CapturePane{captures}))
			if n := bytes.Count(got[0], []byte("drawn")); n != c.drawn || turn.begun != 1 || turn.ended != 1 {
				t.Errorf("%s: erased %s, %d of 100 captures show what was drawn, want %d; %d turns begin, %d end", way, c.erased, n, c.drawn, turn.begun, turn.ended)
			}
		}
		within, cancel := context.WithCancel(ctx)
		one := [][]tmux.CapturePane{{{Target: tmux.PaneID("%0")}}}
		_, err := testserver.By(t, base, way).CaptureAll(turns.WithList(within, &captureTurn{begin: func() {}, end: cancel}), one)
		check.That(t, errors.Is(err, context.Canceled), "%s: a turn ends with the call: %v", way, err)
		turn := &captureTurn{begin: func() {}, end: func() {}}
		_, err = testserver.By(t, base, way).CaptureAll(turns.WithList(ctx, turn), [][]tmux.CapturePane{{{Target: tmux.PaneID("%99")}}})
		check.Kind(t, "a pane that is gone", err, tmux.ErrNotFound)
		check.That(t, turn.begun == 1 && turn.ended == 1, "%s: after an error, %d turns begin, %d end", way, turn.begun, turn.ended)
	}
}

// captureTurn does something as a turn begins, and as it ends.
type captureTurn struct {
	begun, ended int
	begin, end   func()
}

func (t *captureTurn) Lock()   { t.begun++; t.begin() }
func (t *captureTurn) Unlock() { t.ended++; t.end() }

package tmux_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// twoPanes is a server with a window of two panes, of which the first is active.
func twoPanes(t *testing.T) (ctx context.Context, first, second tmux.PaneRef) {
	t.Helper()
	srv, ctx := started(t), tmuxtest.Context(t)
	first = srv.Pane("%0")
	p := must[tmux.Pane](t)(first.Split(ctx, tmux.SplitWindow{Detached: true, Command: []string{"exec sleep 1000"}}))
	return ctx, first, p.PaneRef
}

func TestSplitPlacesThePane(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	dir := t.TempDir()
	p1 := must[tmux.Pane](t)(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Right: true, Size: tmux.Cells(30), Dir: dir, Detached: true}))
	expect(t, p1.Width == 30 && p1.Left == 50 && !p1.Active, "new pane: width %d, left %d, active %v", p1.Width, p1.Left, p1.Active)
	inDirectory(t, p1.PaneRef, dir)
	p2 := must[tmux.Pane](t)(p1.Split(ctx, tmux.SplitWindow{Before: true, Size: tmux.Percent(50)}))
	expect(t, p2.Active && p2.Top == 0 && p2.Height == 12, "new pane: active %v, top %d, height %d", p2.Active, p2.Top, p2.Height)
	equal(t, "order", []tmux.PaneID{"%0", p2.ID, p1.ID}, paneIDs(must[[]tmux.Pane](t)(srv.Window(p1.WindowID).Panes(ctx))))
}

// A command of several words is executed as it is; one of one word goes to the shell.
func TestSplitRunsItsCommand(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	// "1 000" is one argument, and not a number, so sleep fails.
	bad := must[tmux.Pane](t)(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"sleep", "1 000"}}))
	tmuxtest.Wait(t, srv, "%0", "end of the pane with a bad sleep", func() bool {
		_, err := bad.Info(ctx)
		return errors.Is(err, tmux.ErrNotFound)
	})
	good := must[tmux.Pane](t)(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"exec sleep '1000'"}}))
	tmuxtest.Wait(t, srv, string(good.ID), "sleep in the pane", func() bool {
		return must[tmux.Pane](t)(good.Info(ctx)).CurrentCommand == "sleep"
	})
}

func TestSelectPane(t *testing.T) {
	t.Parallel()
	ctx, p0, p1 := twoPanes(t)
	w := p0.Server().Window("@0")
	for _, step := range []struct{ selected, last tmux.PaneRef }{{p1, p0}, {p0, p1}} {
		ok(t, step.selected.Select(ctx, tmux.SelectPane{}))
		equal(t, "active", step.selected.ID, must[tmux.Pane](t)(w.ActivePane(ctx)).ID)
		// LastPane selects it: the next step begins as this one did.
		ok(t, do(ctx, p0.Server(), tmux.LastPane{Target: w}))
		equal(t, "last", step.last.ID, must[tmux.Pane](t)(w.ActivePane(ctx)).ID)
		ok(t, step.selected.Select(ctx, tmux.SelectPane{}))
	}
	ok(t, p0.Select(ctx, tmux.SelectPane{Down: true}))
	equal(t, "active: the one below", p1.ID, must[tmux.Pane](t)(w.ActivePane(ctx)).ID)
	must[tmux.Pane](t)(p1.Resize(ctx, tmux.ResizePane{Height: tmux.Cells(3)}))
	must[tmux.Window](t)(p0.SpreadPanes(ctx))
	expect(t, must[tmux.Pane](t)(p1.Info(ctx)).Height > 3, "spread out, the pane is as low as before")
}

// What is set of a pane, and read back, does not select it.
func TestStateOfAPane(t *testing.T) {
	t.Parallel()
	ctx, p0, p1 := twoPanes(t)
	srv := p1.Server()
	info := func() tmux.Pane { t.Helper(); return must[tmux.Pane](t)(p1.Info(ctx)) }
	for _, title := range []string{"a #{pane_id} title", ""} {
		ok(t, p1.SetTitle(ctx, title))
		equal(t, "title", title, info().Title)
	}
	ok(t, p1.SetStyle(ctx, "bg=blue"))
	equal(t, "style", "bg=blue", tmuxtest.Run(t, srv, "select-pane", "-g", "-t", string(p1.ID)))
	isKind(t, "a bad style", p1.SetStyle(ctx, "no such style"), tmux.ErrBadValue)
	expect(t, !info().Active, "setting title and style selected the pane")
	ok(t, do(ctx, srv, tmux.SelectPane{Target: p1, DisableInput: true}))
	expect(t, info().InputOff, "input is on")
	ok(t, do(ctx, srv, tmux.SelectPane{Target: p1, EnableInput: true}))
	expect(t, !info().InputOff, "input is off")
	ok(t, do(ctx, srv, tmux.SelectPane{Target: p1, Mark: true}))
	expect(t, info().Marked, "not marked")
	ok(t, do(ctx, srv, tmux.SelectPane{Target: p0, Unmark: true})) // there is one mark in a server, wherever it is
	expect(t, !info().Marked, "still marked")
}

func TestZoomIsIdempotent(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	p0 := srv.Pane("%0")
	p1 := must[tmux.Pane](t)(p0.Split(ctx, tmux.SplitWindow{}))
	zoomed := func() (bool, tmux.PaneID) {
		w := must[tmux.Window](t)(srv.Window(p1.WindowID).Info(ctx))
		a := must[tmux.Pane](t)(w.ActivePane(ctx))
		return w.Zoomed, a.ID
	}
	window := srv.Window(p1.WindowID)
	for i, step := range []struct {
		change func(context.Context) error
		want   tmux.PaneID // the zoomed pane
	}{
		{p0.Unzoom, ""}, {p0.Zoom, p0.ID}, {p0.Zoom, p0.ID}, {p1.Zoom, p1.ID}, {p1.Zoom, p1.ID}, {p0.Unzoom, p1.ID}, {p1.Unzoom, ""},
		{p1.Unzoom, ""}, {p0.Zoom, p0.ID}, {window.Unzoom, ""}, {window.Unzoom, ""}, {p1.Zoom, p1.ID},
	} {
		ok(t, step.change(ctx))
		if z, active := zoomed(); z != (step.want != "") || z && active != step.want {
			t.Errorf("step %d: zoomed is %v with %s active, want %q zoomed", i, z, active, step.want)
		}
	}
}

func TestPanesMoveAbout(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	p0 := must[tmux.Pane](t)(srv.Pane("%0").Info(ctx))
	p1 := must[tmux.Pane](t)(p0.Split(ctx, tmux.SplitWindow{Right: true}))
	equal(t, "width", 20, must[tmux.Pane](t)(p1.Resize(ctx, tmux.ResizePane{Width: tmux.Cells(20)})).Width)
	equal(t, "width", 25, must[tmux.Pane](t)(p1.Resize(ctx, tmux.ResizePane{Left: true, By: 5})).Width)
	equal(t, "width", 40, must[tmux.Pane](t)(p1.Resize(ctx, tmux.ResizePane{Width: tmux.Percent(50)})).Width)
	ok(t, do(ctx, srv, tmux.SwapPane{Source: p0, Target: p1, Detached: true}))
	p0 = must[tmux.Pane](t)(p0.Info(ctx))
	expect(t, p0.Index == 1 && p0.Left > 0, "swapped to index %d, column %d", p0.Index, p0.Left)
	w := must[tmux.Window](t)(p1.Break(ctx, tmux.BreakPane{Name: "broken #{pane_id}", Detached: true}))
	expect(t, w.ID != p1.WindowID && w.Name == "broken #{pane_id}" && !w.Active, "broken into %+v", w)
	equal(t, "pane in", w.ID, must[tmux.Pane](t)(p1.Info(ctx)).WindowID)
	ok(t, do(ctx, srv, tmux.JoinPane{Source: p1, Target: p0, Size: tmux.Cells(5)}))
	p1 = must[tmux.Pane](t)(p1.Info(ctx))
	expect(t, p1.WindowID == p0.WindowID && p1.Height == 5, "joined: window %s, height %d", p1.WindowID, p1.Height)
	isKind(t, "the window that lost its pane", second(w.Info(ctx)), tmux.ErrNotFound)
	isKind(t, "joined to a dead pane", do(ctx, srv, tmux.JoinPane{Source: p1, Target: tmux.PaneID("%99")}), tmux.ErrNotFound)
	order := paneIDs(must[[]tmux.Pane](t)(srv.Window(p0.WindowID).Rotate(ctx, tmux.RotateWindow{})))
	equal(t, "order", []tmux.PaneID{p1.ID, p0.ID}, order)
	isKind(t, "a running pane started again", second(p1.Respawn(ctx, tmux.RespawnPane{})), tmux.ErrRunning)
	got := must[tmux.Pane](t)(p1.Respawn(ctx, tmux.RespawnPane{Kill: true, Command: []string{"sleep", "2000"}}))
	equal(t, "started", "sleep 2000", startCommand(got))
	ok(t, do(ctx, srv, tmux.ClockMode{Target: p0}))
	equal(t, "pane_mode", "clock-mode", must[string](t)(p0.Display(ctx, "#{pane_mode}")))
	ok(t, p0.KillOthers(ctx))
	equal(t, "left", []tmux.PaneID{p0.ID}, paneIDs(must[[]tmux.Pane](t)(srv.Panes(ctx))))
}

func TestFloatingPanes(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	has := must[bool](t)(srv.Supports(ctx, tmux.FloatingPanes))
	p, err := srv.Pane("%0").Float(ctx, tmux.NewPane{Width: tmux.Cells(30), Height: tmux.Cells(8), Detached: true})
	if !has {
		var u *tmux.UnsupportedError
		if !errors.As(err, &u) || !errors.Is(err, tmux.ErrUnsupported) || !strings.Contains(err.Error(), "new-pane needs tmux 3.7 or later") {
			t.Errorf("got %v", err)
		}
		return
	}
	ok(t, err)
	expect(t, !p.Active && p.Width <= 30 && p.Width >= 28, "floating pane: active %v, width %d", p.Active, p.Width)
	equal(t, "panes", 2, len(must[[]tmux.Pane](t)(srv.Panes(ctx))))
	if must[bool](t)(srv.Supports(ctx, tmux.FieldFeature(tmux.MovePane{}, "Position"))) {
		before := must[tmux.Pane](t)(p.Info(ctx))
		ok(t, do(ctx, srv, tmux.MovePane{Target: p, Position: "bottom-right"}))
		after := must[tmux.Pane](t)(p.Info(ctx))
		expect(t, after.Left > before.Left, "moved from column %d to %d", before.Left, after.Left)
		ok(t, do(ctx, srv, tmux.MovePane{Target: p, UpBy: 3, LeftBy: 2}))
		again := must[tmux.Pane](t)(p.Info(ctx))
		equal(t, "moved to", []int{after.Left - 2, after.Top - 3}, []int{again.Left, again.Top})
	}
	ok(t, p.Kill(ctx))
}

func TestEmptyPanes(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	p0 := srv.Pane("%0")
	p, err := p0.Split(ctx, tmux.SplitWindow{Empty: true})
	if must[bool](t)(srv.Supports(ctx, tmux.FieldFeature(tmux.SplitWindow{}, "Empty"))) {
		ok(t, err)
		if info := must[tmux.Pane](t)(p.Info(ctx)); info.PID != nil && *info.PID != 0 {
			t.Errorf("process %d in an empty pane", *info.PID)
		}
		ok(t, p.Kill(ctx))
	} else {
		isKind(t, "an empty pane", err, tmux.ErrUnsupported)
	}
	// An empty command is one too, on every tmux.
	p = must[tmux.Pane](t)(p0.Split(ctx, tmux.SplitWindow{Command: []string{""}}))
	if p.PID != nil && *p.PID != 0 {
		t.Errorf("process %d in an empty pane", *p.PID)
	}
	ok(t, p.Kill(ctx))
	p = must[tmux.Pane](t)(p0.Split(ctx, tmux.SplitWindow{Stdin: true, Input: []byte("what was read\n")}))
	tmuxtest.WaitScreen(t, srv, string(p.ID), "what was read")
	ok(t, p.Kill(ctx))
}

// With Wait the command takes as long as the pane's program, however long that
// is, and fails as it does.
func TestPaneWait(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	_, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Wait: true, Command: []string{"exit 3"}})
	if !must[bool](t)(srv.Supports(ctx, tmux.FieldFeature(tmux.SplitWindow{}, "Wait"))) {
		isKind(t, "to wait for a pane", err, tmux.ErrUnsupported)
		return
	}
	var e *tmux.Error
	expect(t, errors.As(err, &e) && e.ExitCode == 3, "got %v", err)
	ok(t, second(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Wait: true, Command: []string{"true"}})))
}

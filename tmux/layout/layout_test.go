package layout_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
)

func do(ctx context.Context, srv *tmux.Server, cmd tmux.Command) error {
	return check.Second(srv.Do(ctx, cmd))
}

// threePanes returns a window with a pane on the left and two on the right.
func threePanes(t testing.TB) (*tmux.Server, tmux.WindowRef) {
	srv, ctx := testserver.Started(t), testserver.Context(t)
	right := check.Must[tmux.Pane](t)(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Right: true}))
	check.Must[tmux.Pane](t)(right.Split(ctx, tmux.SplitWindow{}))
	return srv, srv.Window("@0")
}

func TestCustomLayoutsComeBack(t *testing.T) {
	t.Parallel()
	srv, w := threePanes(t)
	ctx := testserver.Context(t)
	before := check.Must[tmux.Window](t)(w.Info(ctx))
	root := check.Must[layout.Cell](t)(layout.Parse(before.Layout))
	if root.Panes() != 3 || root.Kind != 'h' || root.Width != 80 || root.Cells[1].Kind != 'v' || root.Cells[1].Cells[1].Pane != 2 {
		t.Errorf("%s is %+v", before.Layout, root)
	}
	check.Must[tmux.Window](t)(w.SelectLayout(ctx, layout.Tiled))
	check.Equal(t, "layout", before.Layout, check.Must[tmux.Window](t)(w.SelectLayout(ctx, before.Layout)).Layout)
	// The old form is understood by all.
	check.Must[tmux.Window](t)(w.SelectLayout(ctx, layout.Tiled))
	check.Equal(t, "the old form", before.Layout, check.Must[tmux.Window](t)(w.SelectLayout(ctx, root.Layout())).Layout)
	check.Must[tmux.Window](t)(w.SelectLayout(ctx, layout.Tiled))
	check.Equal(t, "made of it", before.Layout, check.Must[tmux.Window](t)(w.SelectLayout(ctx, before.Layout.Classic())).Layout)
	if strings.HasPrefix(string(before.Layout), "{") != check.Must[bool](t)(srv.Supports(ctx, tmux.JSONLayouts)) && !check.Must[tmux.Version](t)(srv.Version(ctx)).Next {
		t.Errorf("layout %s", before.Layout)
	}

	// The number of panes must be the window's.
	check.OK(t, srv.Pane("%1").Kill(ctx))
	two := check.Must[tmux.Window](t)(w.Info(ctx))
	check.Kind(t, "three panes for two", check.Second(w.SelectLayout(ctx, root.Layout())), tmux.ErrArgument)
	check.Equal(t, "the layout changed to", two.Layout, check.Must[tmux.Window](t)(w.Info(ctx)).Layout)
	check.Kind(t, "a dead window", check.Second(srv.Window("@99").SelectLayout(ctx, root.Layout())), tmux.ErrNotFound)
}

// A layout with floating panes is listed as it is. tmux 3.7 does not read its own form of them,
// only the JSON of 3.8.
func TestLayoutsWithFloatingPanes(t *testing.T) {
	t.Parallel()
	srv, w := threePanes(t)
	ctx := testserver.Context(t)
	if !check.Must[bool](t)(srv.Supports(ctx, tmux.FloatingPanes)) {
		t.Skip("this tmux has no floating panes")
	}
	check.Must[tmux.Pane](t)(srv.Pane("%0").Float(ctx, tmux.NewPane{Width: tmux.Cells(20), Height: tmux.Cells(5)}))
	before := check.Must[tmux.Window](t)(w.Info(ctx)).Layout
	check.Must[tmux.Window](t)(w.SelectLayout(ctx, layout.Tiled))
	after, err := w.SelectLayout(ctx, before)
	if strings.HasPrefix(string(before), "{") {
		check.OK(t, err)
		check.Equal(t, "layout", before, after.Layout)
		return
	}
	check.Contains(t, "the layout", string(before), ">")
	check.Kind(t, "the layout", err, tmux.ErrArgument)
	check.Contains(t, "the error", fmt.Sprint(err), "floating panes")
	check.Kind(t, "a command", do(ctx, srv, tmux.SelectLayout{Target: w, Layout: before}), tmux.ErrArgument)
}

// The old form of a layout in JSON is what tmux 3.7 would print for the same panes.
func TestClassicLayouts(t *testing.T) {
	t.Parallel()
	const two = `{"V":2,"L":{"t":"h","w":80,"h":24,"x":0,"y":0,"c":[{"t":"p","w":40,"h":24,"x":0,"y":0,"i":0,"I":"%0"},{"t":"p","w":39,"h":24,"x":41,"y":0,"a":true,"i":1,"I":"%1"}]}}`
	const floats = `{"V":2,"L":{"t":"h","w":80,"h":24,"x":0,"y":0,"c":[{"t":"p","w":80,"h":24,"x":0,"y":0,"i":0},{"t":"p","w":18,"h":3,"x":4,"y":2,"i":1,"z":0}]}}`
	for l, want := range map[layout.Layout]layout.Layout{
		two: layout.WithChecksum("80x24,0,0{40x24,0,0,0,39x24,41,0,1}"), floats: floats, "0000,80x24,0,0,0": "0000,80x24,0,0,0",
		layout.Tiled: layout.Tiled, `{"V":2}`: `{"V":2}`, "": "",
	} {
		check.Equal(t, string(l), want, l.Classic())
	}
}

// Invalid layouts are refused before tmux sees them. Whatever reaches it, it refuses too: the
// JSON and most words are only tried where that is so.
func TestBrokenLayoutsAreRefused(t *testing.T) {
	t.Parallel()
	srv, w := threePanes(t)
	ctx := testserver.Context(t)
	leaf := func(w, h int) layout.Cell { return layout.Cell{Kind: 'p', Width: w, Height: h} }
	layouts := []layout.Layout{
		"foo", "tile", "0000,", "b25d,80x24,0,0,0,",
		leaf(0, 24).Layout(), leaf(80, 10001).Layout(),
		layout.Cell{Kind: 'h', Width: 80, Height: 24, Cells: []layout.Cell{leaf(40, 24), leaf(39, 23)}}.Layout(),
		layout.Cell{Kind: 'v', Width: 80, Height: 24, Cells: []layout.Cell{leaf(80, 12), {Kind: 'h', Width: 80, Height: 11, Cells: []layout.Cell{leaf(20, 11), leaf(20, 11)}}}}.Layout(),
		leaf(80, 24).Layout() + "x",
		layout.Layout(strings.Repeat("a", 20000)),
	}
	words := []layout.Layout{
		"main", "{}", "{", `{"V":2}`, `{"V":2,"L":null}`, `{"V":3,"L":{"t":"p","w":80,"h":24,"x":0,"y":0}}`,
		`{"V":2,"L":{"t":"p","w":80,"h":24,"x":0}}`, `{"V":2,"L":{"t":"p","w":0,"h":24,"x":0,"y":0}}`, `{"V":2,"L":{"t":"h","w":80,"h":24,"x":0,"y":0,"c":[]}}`,
		`{"V":2,"L":{"t":"p","w":80,"h":24,"x":0,"y":0}} x`, `{"V":2,"L":{"t":"p","w":80,"h":24,"x":0,"y":0,"?":1}}`, `{"V":2,"L":{"t":"p","w":80,"h":24,"x":0,"y":0,"I":"main"}}`,
	}
	modern := check.Must[tmux.Version](t)(srv.Version(ctx)).Has(tmux.Version{Major: 3, Minor: 4})
	if modern {
		layouts = append(layouts, words...)
	}
	for _, l := range layouts {
		check.Kind(t, fmt.Sprintf("%.100s", l), check.Second(w.SelectLayout(ctx, l)), tmux.ErrArgument)
		check.Kind(t, fmt.Sprintf("%.100s", l), do(ctx, srv, tmux.SelectLayout{Target: w, Layout: l}), tmux.ErrArgument)
	}
	if modern && !check.Must[bool](t)(srv.Supports(ctx, tmux.JSONLayouts)) {
		_, err := w.SelectLayout(ctx, `{"V":2,"L":{"t":"p","w":80,"h":24,"x":0,"y":0}}`)
		check.Kind(t, "JSON for an older tmux", err, tmux.ErrUnsupported)
	}
	check.Equal(t, "panes", 3, len(check.Must[[]tmux.Pane](t)(srv.Panes(ctx))))
}

// The parser does not panic, and tmux takes or refuses what it accepts: each layout is tried with
// as many panes as it has, up to four, and with more of them.
func FuzzLayouts(f *testing.F) {
	srv := testserver.Started(f)
	ctx := f.Context()
	cell := func(kind byte, w, h int, cells ...layout.Cell) layout.Cell {
		return layout.Cell{Kind: kind, Width: w, Height: h, Pane: -1, Cells: cells}
	}
	for _, c := range []layout.Cell{
		cell('p', 80, 24), cell('p', 1, 1), cell('p', 10000, 10000),
		cell('h', 80, 24, cell('p', 40, 24), cell('p', 39, 24)),
		cell('v', 80, 24, cell('h', 80, 12, cell('p', 40, 12), cell('p', 39, 12)), cell('p', 80, 11)),
		cell('h', 3, 1, cell('p', 1, 1), cell('p', 1, 1)),
		cell('v', 80, 24, cell('p', 80, 24)),
		cell('h', 80, 24, cell('h', 80, 24, cell('p', 80, 24))),
		cell('h', 9999, 3, cell('v', 4999, 3, cell('p', 4999, 1), cell('p', 4999, 1)), cell('p', 4999, 3)),
	} {
		_, body, _ := strings.Cut(string(c.Layout()), ",")
		f.Add(body, false)
	}
	f.Add(`{"V":2,"L":{"t":"h","w":80,"h":24,"x":0,"y":0,"c":[{"t":"p","w":40,"h":24,"x":0,"y":0,"l":1,"i":0,"I":"%0"},{"t":"p","w":39,"h":24,"x":41,"y":0,"a":true,"i":1,"I":"%1"}]}}`, true)
	f.Add(`{"V":2,"L":{"t":"h","w":80,"h":24,"x":0,"y":0,"c":[{"t":"p","w":80,"h":24,"x":0,"y":0,"i":0},{"t":"p","w":18,"h":3,"x":4,"y":2,"i":1,"z":0}]}}`, true)
	for i := range 3 {
		check.OK(f, do(ctx, srv, tmux.NewWindow{Target: tmux.SessionID("$0"), Detached: true}))
		for range i + 1 {
			check.OK(f, do(ctx, srv, tmux.Raw{Name: "resize-window", Args: []string{"-t", string(tmux.WindowID("@" + string(rune('1'+i)))), "-x200", "-y200"}}))
			check.OK(f, do(ctx, srv, tmux.SplitWindow{Target: tmux.WindowID("@" + string(rune('1'+i)))}))
		}
	}
	json := check.Must[bool](f)(srv.Supports(ctx, tmux.JSONLayouts)) && !check.Must[tmux.Version](f)(srv.Version(ctx)).Next
	f.Fuzz(func(t *testing.T, body string, raw bool) {
		l := layout.Layout(body)
		if !raw {
			// A checksum is not found by chance.
			l = layout.WithChecksum(body)
		}
		root, err := layout.Parse(l)
		if err != nil {
			return
		}
		if again, err := layout.Parse(root.Layout()); err != nil || again.Panes() != root.Panes() {
			// A cell that contains only floating panes has no old form.
			if !strings.Contains(body, `"z"`) {
				t.Fatalf("%q is written as %q: %v", l, root.Layout(), err)
			}
		}
		if root.Width*root.Height > 1e6 || strings.HasPrefix(string(l), "{") && !json {
			return
		}
		// Window @1 has two panes, and so on.
		w := srv.Window(tmux.WindowID("@" + string(rune('0'+min(max(root.Panes()-1, 0), 3)))))
		if err := do(t.Context(), srv, tmux.SelectLayout{Target: w, Layout: l}); errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) {
			t.Fatalf("tmux died of %q: %v", l, err)
		}
		check.OK(t, do(t.Context(), srv, tmux.ListPanes{}))
	})
}

// A named layout is not said to be none.
func TestNamedLayoutsHaveNoCells(t *testing.T) {
	t.Parallel()
	_, err := layout.Parse(layout.Tiled)
	check.That(t, err != nil && strings.Contains(err.Error(), `layout "tiled": a named layout`), "%v", err)
}

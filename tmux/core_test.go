package tmux_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

func TestDoNamesTheCommandThatFailed(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	for _, test := range []struct {
		cmds    []tmux.Command
		command string
		kind    error
		outs    int
	}{
		{[]tmux.Command{tmux.DisplayMessage{Print: true, Message: "x"}, tmux.Raw{Name: "last-window"}, tmux.ListPanes{}}, "last-window", tmux.ErrNotFound, 2},
		{[]tmux.Command{tmux.ListPanes{}, tmux.ListPanes{}, tmux.Raw{Name: "list-windows", Args: []string{"-Q"}}}, "list-windows", tmux.ErrUsage, 1},
		{[]tmux.Command{tmux.ListPanes{}, tmux.Raw{Name: "no-such-command"}}, "no-such-command", tmux.ErrUsage, 1},
		{[]tmux.Command{tmux.ListPanes{Target: tmux.PaneID("%99")}}, "list-panes", tmux.ErrNotFound, 1},
	} {
		outs, err := srv.Do(ctx, test.cmds...)
		var e *tmux.Error
		if !errors.As(err, &e) || e.Command != test.command || !errors.Is(err, test.kind) || len(outs) != test.outs {
			t.Errorf("%v: got %d outputs and %#v, want %d and %s of kind %q", test.cmds, len(outs), err, test.outs, test.command, test.kind)
		}
	}
}

func TestListsOverTheLimits(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	t.Run("one long command", func(t *testing.T) {
		long := strings.Repeat("it's \\\n#{x};", 3000) + ";"
		check.OK(t, do(ctx, srv, tmux.Raw{Name: "set-option", Args: []string{"-g", "@long", long}}))
		type row struct {
			Long string `tmux:"@long"`
		}
		check.Equal(t, "the value", long, check.Only[row](t)(tmux.List[row](ctx, srv, tmux.ListSessions{})).Long)
	})
	t.Run("a server is started for a long list", func(t *testing.T) {
		srv := testserver.New(t)
		check.OK(t, do(ctx, srv, tmux.Raw{Name: "new-session", Args: []string{"-d", "-e", "LONG=" + strings.Repeat("x", 20000)}}))
	})
}

func TestRowsCarryAnyValue(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	type row struct {
		A    string      `tmux:"@a"`
		ID   tmux.PaneID `tmux:"pane_id"`
		B    string      `tmux:"@b"`
		Wide int         `tmux:"pane_width"`
		None *int        `tmux:"@none"`
	}
	for _, v := range []string{
		"", "plain", "|", `\`, `\|`, "a\nb", "\t", "\x1b[0m", `\033`, `\n`, "$HOME", `\$HOME`, "$", "${x}", "#{pane_id}", "#(date)", "%Y", "ü€😀", "\x01\x7f", " lead", ";", "a;",
	} {
		set := func(name, value string) tmux.Command {
			return tmux.Raw{Name: "set-option", Args: []string{"-g", name, value}}
		}
		check.OK(t, do(ctx, srv, set("@a", v), set("@b", v+v)))
		got := check.Only[row](t)(tmux.List[row](ctx, srv, tmux.ListPanes{All: true}))
		check.Equal(t, v, row{A: v, ID: "%0", B: v + v, Wide: 80}, got)
	}
}

// The tmux program closes its standard output after show-buffer.
func TestListsWithBuffers(t *testing.T) {
	t.Parallel()
	base := testserver.Started(t)
	data := strings.Repeat("0123456789", 10000)
	for _, way := range transports {
		outs := check.Must[[][]byte](t)(testserver.By(t, base, way).Do(testserver.Context(t),
			tmux.Raw{Name: "set-buffer", Args: []string{"-b", "b", data}},
			tmux.DisplayMessage{Print: true, Message: "one\ntwo"},
			tmux.Raw{Name: "show-buffer", Args: []string{"-b", "b"}},
			tmux.Raw{Name: "save-buffer", Args: []string{"-b", "b", "-"}},
			tmux.DisplayMessage{Print: true, Message: "three"},
			tmux.LoadBuffer{Buffer: "x", Path: "-", Data: []byte("1")}, // both read standard input
			tmux.LoadBuffer{Buffer: "y", Path: "-", Data: []byte("2")},
			tmux.ListBuffers{Format: "#{buffer_sample}", Filter: "#{m:[xy],#{buffer_name}}"},
		))
		for i, want := range []string{"", "one\ntwo\n", data, data, "three\n", "", "", "2\n1\n"} {
			check.Equal(t, fmt.Sprintf("%s: output %d", way, i), want, string(outs[i]))
		}
	}
}

// What tmux logs about a list may be on a screen that a later list captures.
func TestMarksOnTheScreen(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	ctx := testserver.Context(t)
	if _, err := srv.Do(ctx, tmux.Raw{Name: "show-messages"}); err != nil {
		t.Skip("this tmux shows its log to terminals only: ", err)
	}
	look := []tmux.Command{tmux.ListPanes{All: true, Format: "#{pane_id}"}, tmux.ListSessions{}, tmux.CapturePane{Target: tmux.PaneID("%0"), Print: true}}
	check.OK(t, do(ctx, srv, look...))
	command := srv.Binary() + " -S " + srv.SocketPath() + " show-messages | sed 's,.* -p end,end,'; printf %s%s all over; exec cat"
	id := tmux.PaneID(testserver.Run(t, srv, "new-window", "-P", "-F", "#{pane_id}", command))
	testserver.WaitScreen(t, srv, string(id), "allover")
	// The log above contains the lists that must not be confused.
	outs := check.Must[[][]byte](t)(srv.Do(ctx, tmux.CapturePane{Target: id, Print: true}, tmux.DisplayMessage{Print: true, Message: "next"}))
	if !strings.Contains(string(outs[0]), "\nend-") || !strings.Contains(string(outs[0]), "allover\n") || string(outs[1]) != "next\n" {
		t.Errorf("got %q", outs)
	}
	outs = check.Must[[][]byte](t)(srv.Do(ctx, append(look, tmux.Raw{Name: "show-messages"}, tmux.DisplayMessage{Print: true, Message: "next"})...))
	check.That(t, string(outs[4]) == "next\n" && strings.Contains(string(outs[3]), "new-window"), "got %q", outs)
}

// A long list of read-only commands is sent in parts, and must behave as a single one.
func TestManyLooks(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	ctx := testserver.Context(t)
	lengths := []int{31, 32, 33, 64, 321, 100, 320, 1000}
	for _, n := range lengths[:testtool.Size(5, len(lengths))] {
		// The last one works in the first round.
		for _, fails := range []int{n, 0, 1, 31, 32, 33, 63, n - 1} {
			var cmds []tmux.Command
			for i := range n {
				if i == fails || fails < n && i == fails+40 {
					cmds = append(cmds, tmux.CapturePane{Target: tmux.PaneID(fmt.Sprint("%", 1000+i)), Print: true})
				} else {
					cmds = append(cmds, tmux.DisplayMessage{Print: true, Message: tmux.Format(fmt.Sprintf("it's %d: #{pane_id};", i))})
				}
			}
			outs, err := srv.Do(ctx, cmds...)
			want := n
			if fails < n {
				want = fails + 1
				var e *tmux.Error
				if !errors.As(err, &e) || !errors.Is(err, tmux.ErrNotFound) || e.Stderr != fmt.Sprint("can't find pane: %", 1000+fails) || e.ExitCode != 1 || !slices.Contains(e.Args, fmt.Sprint("%", 1000+fails)) {
					t.Errorf("%d of %d: %v", fails, n, err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			check.Equal(t, "len(outs)", want, len(outs))
			for i, out := range outs {
				text := fmt.Sprintf("it's %d: %%0;\n", i)
				if i == fails {
					text = ""
				}
				check.Equal(t, fmt.Sprintf("%d of %d: output %d", fails, n, i), text, string(out))
			}
		}
	}
}

func TestRowsOfSomeTokens(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	ctx := testserver.Context(t)
	type row struct {
		ID    tmux.PaneID `tmux:"pane_id"`
		Width int         `tmux:"pane_width"`
		Name  *string     `tmux:"session_name"`
	}
	var b tmux.Batch
	all := tmux.AddRows[row](&b, tmux.ListPanes{All: true})
	some := tmux.AddRows[row](&b, tmux.ListPanes{All: true}, "session_name", "pane_id")
	check.OK(t, b.Do(ctx, srv))
	name := "main"
	check.Equal(t, "all", []row{{"%0", 80, &name}}, *all)
	check.Equal(t, "some", []row{{"%0", 0, &name}}, *some)
	var wrong tmux.Batch
	tmux.AddRows[row](&wrong, tmux.ListPanes{All: true}, "pane_height")
	check.Kind(t, "a token without a field", wrong.Do(ctx, srv), tmux.ErrArgument)
}

func TestRowsWithEmbeddedStructs(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	type window struct {
		Name string `tmux:"window_name"`
	}
	type row struct {
		Session string `tmux:"session_name"`
		window
		tmux.Pane
	}
	got := check.Only[row](t)(tmux.List[row](testserver.Context(t), srv, tmux.ListPanes{}))
	check.That(t, got.Session == "main" && got.Name != "" && got.ID == "%0" && got.Active && got.Height > 0, "%+v", got)
	_, err := got.Capture(t.Context(), tmux.CapturePane{})
	check.OK(t, err) // its handle has the server
}

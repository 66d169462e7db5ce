package tmux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
	"tmuxmcp/tmux/shell"
)

// The ids of two servers are the same, but a reference is of one of them.
func TestReferencesOfAnotherServer(t *testing.T) {
	t.Parallel()
	a, b, ctx := testserver.Started(t), testserver.Started(t), testserver.Context(t)
	for _, srv := range []*tmux.Server{a, b} {
		check.OK(t, do(ctx, srv, tmux.NewWindow{Target: srv.Session("$0").At(1), Detached: true, Name: "w", Command: []string{"cat"}}))
	}
	session, window, pane, client := a.Session("$0"), check.Must[tmux.Window](t)(a.Window("@1").Info(ctx)), a.Pane("%1"), a.Client("/dev/pts/0")
	state := func() string {
		return string(check.Must[[]byte](t)(b.Session("$0").Command(ctx, "list-panes", "-s", "-F", "#{window_id} #{window_index} #{pane_id} #{pane_pid} #{@x}")))
	}
	before := state()
	batch := func(add func(batch *tmux.Batch)) error {
		var all tmux.Batch
		tmux.Add(&all, tmux.SetOption{Target: tmux.PaneID("%1"), Pane: true, Name: "@x", Value: ptr("sent")})
		add(&all)
		return all.Do(ctx, b)
	}
	_, panesErr := tmux.List[tmux.Pane](ctx, b, tmux.ListPanes{Target: pane})
	_, atErr := new(shell.Runner).At(ctx, b, pane)
	for what, err := range map[string]error{
		"a command":         do(ctx, b, tmux.SetOption{Target: b.Pane("%1"), Pane: true, Name: "@x", Value: ptr("sent")}, tmux.KillWindow{Target: a.Window("@1")}),
		"a row":             do(ctx, b, tmux.KillWindow{Target: window}),
		"a pointer":         do(ctx, b, tmux.KillWindow{Target: &window}),
		"an index":          do(ctx, b, tmux.KillWindow{Target: session.At(1)}),
		"a link":            do(ctx, b, tmux.KillWindow{Target: session.Linked("@1")}),
		"a source":          do(ctx, b, tmux.SwapPane{Source: pane, Target: b.Pane("%0")}),
		"a client":          do(ctx, b, tmux.SwitchClient{Client: client}),
		"a group":           check.Second(b.NewSession(ctx, tmux.NewSession{Group: session})),
		"a condition":       do(ctx, b, tmux.Require{Target: pane, Condition: "1"}),
		"a move":            check.Second(b.Window("@1").Move(ctx, tmux.MoveWindow{Target: session.At(5)})),
		"a link of its own": check.Second(b.Window("@1").Link(ctx, tmux.LinkWindow{Target: session.At(5)})),
		"a break":           check.Second(b.Pane("%1").Break(ctx, tmux.BreakPane{Target: session.At(5)})),
		"a new window":      check.Second(b.Session("$0").NewWindow(ctx, tmux.NewWindow{Target: session.At(6)})),
		"one elsewhere":     check.Second(b.Session("$0").NewWindow(ctx, tmux.NewWindow{Target: a.Session("$1").At(6)})),
		"a switch":          b.Client("/dev/pts/0").Switch(ctx, session),
		"a pane":            check.Second(b.PaneAt(ctx, pane)),
		"a session":         check.Second(b.HasSession(ctx, session)),
		"a list":            panesErr,
		"captures":          check.Second(b.CaptureAll(ctx, [][]tmux.CapturePane{{{Target: pane}}})),
		"options":           check.Second(b.OptionsAt(tmux.PaneOptions, pane).All(ctx)),
		"hooks":             check.Second(b.HooksAt(tmux.PaneOptions, pane).All(ctx)),
		"an environment":    check.Second(b.EnvironmentAt(session).All(ctx)),
		"a setting":         do(ctx, b, pane.Options().Setting(tmux.SetOption{Name: "@x", Value: ptr("sent")})),
		"a script":          check.Second(b.Script(ctx, tmux.KillWindow{Target: window})),
		"a batch":           batch(func(all *tmux.Batch) { tmux.Add(all, tmux.KillWindow{Target: window}) }),
		"rows of a batch":   batch(func(all *tmux.Batch) { tmux.AddRows[tmux.Pane](all, tmux.ListPanes{Target: window}) }),
		"a message":         batch(func(all *tmux.Batch) { tmux.AddMessage(all, tmux.DisplayMessage{Target: pane, Message: "x"}) }),
		"a look":            batch(func(all *tmux.Batch) { follow.AddLook(all, pane) }),
		"one look":          check.Second(follow.LookAt(ctx, b, pane, nil)),
		"a paste":           check.Second(b.Buffer("x").Pasting(ctx, pane, tmux.PasteOptions{})),
		"a shell":           atErr,
	} {
		check.Kind(t, what, err, tmux.ErrArgument)
		if err != nil && !(strings.Contains(err.Error(), a.SocketPath()) && strings.Contains(err.Error(), b.SocketPath())) {
			t.Errorf("%s: %v does not name both sockets", what, err)
		}
	}
	check.Equal(t, "the other server", before, state())
	check.OK(t, do(ctx, b, tmux.KillWindow{Target: window.ID})) // the id alone is of any
}

// References are of a socket, whichever handle made them.
func TestHandlesOnOneSocket(t *testing.T) {
	t.Parallel()
	ctx, dir := testserver.Context(t), t.TempDir()
	env := append(os.Environ(), "TMUX_TMPDIR="+dir)
	named := testserver.Handle(t, tmux.Config{SocketName: "n", Env: env})
	path := named.SocketPath()
	check.OK(t, os.Mkdir(filepath.Dir(path), 0o700)) // as tmux does
	link := filepath.Join(t.TempDir(), "link")
	check.OK(t, os.Symlink(filepath.Dir(path), link))
	handles := map[string]*tmux.Server{
		"by name":         testserver.Handle(t, tmux.Config{SocketName: "n", Env: env}),
		"by path":         testserver.Handle(t, tmux.Config{SocketPath: path}),
		"by another path": testserver.Handle(t, tmux.Config{SocketPath: filepath.Dir(path) + "/./n"}),
		"by a link":       testserver.Handle(t, tmux.Config{SocketPath: filepath.Join(link, "n")}),
	}
	for what, srv := range handles {
		check.Kind(t, what+", before there is a server", do(ctx, named, tmux.SelectPane{Target: srv.Pane("%0")}), tmux.ErrNoServer)
	}
	_, err := named.NewSession(ctx, tmux.NewSession{Command: []string{job(t)}})
	check.OK(t, err)
	file := filepath.Join(t.TempDir(), "socket")
	check.OK(t, os.Symlink(path, file))
	handles["by a link to the socket"] = testserver.Handle(t, tmux.Config{SocketPath: file})
	for what, srv := range handles {
		check.OK(t, do(ctx, named, tmux.SelectPane{Target: srv.Pane("%0")}))
		if err := do(ctx, srv, tmux.SelectPane{Target: named.Pane("%0")}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	check.Kind(t, "the next socket", do(ctx, named, tmux.SelectPane{Target: testserver.Handle(t, tmux.Config{SocketPath: path + "2"}).Pane("%0")}), tmux.ErrArgument)
}

// tmux would pick where a window goes, perhaps in the other session, which is the newer one.
func TestDestinations(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	main := srv.Session("$0")
	for _, at := range []int{3, 5} {
		check.OK(t, do(ctx, srv, tmux.NewWindow{Target: main.At(at), Detached: true}))
	}
	_, err := srv.NewSession(ctx, tmux.NewSession{Name: "other"})
	check.OK(t, err)
	check.OK(t, do(ctx, srv, tmux.NewWindow{Target: srv.Session("$1").At(7), Detached: true}))
	all := func() string {
		return string(check.Must[[]byte](t)(main.Command(ctx, "list-windows", "-a", "-F", "#{session_id}:#{window_index} #{window_id}")))
	}
	window, before := srv.Window("@1"), all()
	check.Kind(t, "a move", check.Second(window.Move(ctx, tmux.MoveWindow{})), tmux.ErrArgument)
	check.Kind(t, "a move, detached", check.Second(window.Move(ctx, tmux.MoveWindow{Detached: true, Replace: true})), tmux.ErrArgument)
	check.Kind(t, "a link", check.Second(window.Link(ctx, tmux.LinkWindow{})), tmux.ErrArgument)
	check.Kind(t, "a switch", srv.Client("/dev/pts/0").Switch(ctx, nil), tmux.ErrArgument)
	for _, replace := range []bool{false, true} {
		check.Kind(t, "its own index", check.Second(window.Move(ctx, tmux.MoveWindow{Target: main.At(3), Replace: replace})), tmux.ErrExists)
		check.Kind(t, "a link to its own index", check.Second(window.Link(ctx, tmux.LinkWindow{Target: main.At(3), Replace: replace})), tmux.ErrExists)
	}
	check.Equal(t, "windows", before, all())
	renumbered := check.Must[tmux.Window](t)(window.Move(ctx, tmux.MoveWindow{Renumber: true}))
	check.Equal(t, "the index of the second window", 1, renumbered.Index)
	check.Contains(t, "the other session", all(), "$1:7 ")

	pane := check.Must[tmux.Pane](t)(srv.Pane("%0").Split(ctx, tmux.SplitWindow{}))
	broken := check.Must[tmux.Window](t)(pane.Break(ctx, tmux.BreakPane{Detached: true}))
	check.Contains(t, "windows", all(), "$0:3 "+string(broken.ID))
	check.Kind(t, "no pane", check.Second(srv.Pane("%99").Break(ctx, tmux.BreakPane{})), tmux.ErrNotFound)
}

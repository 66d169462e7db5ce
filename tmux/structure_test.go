package tmux_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func windowNames(ws []tmux.Window) (names []string) {
	for _, w := range ws {
		names = append(names, w.Name)
	}
	return names
}

func paneIDs(ps []tmux.Pane) (ids []tmux.PaneID) {
	for _, p := range ps {
		ids = append(ids, p.ID)
	}
	return ids
}

// startCommand is what a pane was started with, without quotes.
func startCommand(p tmux.Pane) string {
	if p.StartCommand == nil {
		return ""
	}
	return strings.Trim(*p.StartCommand, `"`)
}

// inDirectory waits until the pane's program has gone to dir: tmux announces the pane
// before that.
func inDirectory(t testing.TB, p tmux.PaneRef, dir string) {
	t.Helper()
	tmuxtest.Wait(t, p.Server(), string(p.ID), "pane in "+dir, func() bool {
		info := must[tmux.Pane](t)(p.Info(tmuxtest.Context(t)))
		return info.CurrentPath != nil && *info.CurrentPath == dir
	})
}

func TestSessionsFromBirthToDeath(t *testing.T) {
	t.Parallel()
	srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
	dir := t.TempDir()
	s := must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "work", WindowName: "first", Dir: dir, Width: 100, Height: 30, Env: tmux.Env{"A": "b c"}}))
	expect(t, s.Name == "work" && s.ID.Valid() && s.WindowCount == 1, "new session: %+v", s)
	p := only[tmux.Pane](t)(s.Panes(ctx))
	equal(t, "session of its pane", s.ID, p.SessionID)
	inDirectory(t, p.PaneRef, dir)
	wide := must[tmux.Version](t)(srv.Version(ctx)).Has(tmux.Version{Major: 3, Minor: 3})
	w := must[tmux.Window](t)(s.ActiveWindow(ctx))
	expect(t, w.Name == "first" && (w.Width == 100 || !wide), "window %q of width %d", w.Name, w.Width)
	isKind(t, "the same name again", second(srv.NewSession(ctx, tmux.NewSession{Name: "work"})), tmux.ErrExists)

	// A name that is another's beginning.
	wo := must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "wor"}))
	equal(t, "session named wor", wo.ID, must[tmux.Session](t)(srv.SessionNamed(ctx, "wor")).ID)
	equal(t, "has wo", false, must[bool](t)(srv.HasSession(ctx, tmux.Named("wo"))))
	equal(t, "has wor", true, must[bool](t)(srv.HasSession(ctx, tmux.Named("wor"))))
	ok(t, s.Rename(ctx, "play"))
	equal(t, "renamed to", "play", must[tmux.Session](t)(s.Info(ctx)).Name)
	isKind(t, "an empty name", s.Rename(ctx, ""), tmux.ErrArgument)
	isKind(t, "a taken name", s.Rename(ctx, "wor"), tmux.ErrExists)

	ok(t, wo.KillOthers(ctx))
	equal(t, "left", wo.ID, only[tmux.Session](t)(srv.Sessions(ctx)).ID)
	isKind(t, "a session that was killed", second(s.Info(ctx)), tmux.ErrNotFound)
	ok(t, wo.DetachClients(ctx))
}

// lists are the lists of a server, by how many they have; -1 if there is none.
func lists(t testing.TB, srv *tmux.Server) (lengths []int, errs []error) {
	ctx := tmuxtest.Context(t)
	sessions, err1 := srv.Sessions(ctx)
	windows, err2 := srv.Windows(ctx)
	panes, err3 := srv.Panes(ctx)
	clients, err4 := srv.Clients(ctx)
	for _, list := range []any{sessions, windows, panes, clients} {
		if v := reflect.ValueOf(list); v.IsNil() {
			lengths = append(lengths, -1)
		} else {
			lengths = append(lengths, v.Len())
		}
	}
	return lengths, []error{err1, err2, err3, err4}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
	_, errs := lists(t, srv)
	errs = append(errs, do(ctx, srv, tmux.ListSessions{}), second(srv.Display(ctx, "#{pid}")), second(srv.Pane("%0").Display(ctx, "x")))
	for _, err := range errs {
		isKind(t, "without a server", err, tmux.ErrNoServer)
		expect(t, strings.Contains(fmt.Sprint(err), srv.SocketPath()), "%v does not name the socket", err)
	}
	if v := must[tmux.Version](t)(srv.Version(ctx)); v.Compare(tmux.MinVersion) < 0 {
		t.Errorf("version without a server: %v", v)
	}
	ok(t, srv.Kill(ctx))
}

func TestServerWithoutSessions(t *testing.T) {
	t.Parallel()
	srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
	ok(t, do(ctx, srv, tmux.StartServer{}, tmux.Raw{Name: "set-option", Args: []string{"-s", "exit-empty", "off"}}))
	if info := must[tmux.ServerInfo](t)(srv.Info(ctx)); info.PID == 0 || info.SocketPath != srv.SocketPath() {
		t.Errorf("server: %+v", info)
	}
	lengths, errs := lists(t, srv)
	equal(t, "sessions, windows, panes and clients", []int{0, 0, 0, 0}, lengths)
	ok(t, errors.Join(errs...))
	equal(t, "a format", srv.SocketPath()+" ", must[string](t)(srv.Display(ctx, "#{socket_path} #{session_name}")))
	isKind(t, "a pane", second(srv.Pane("%0").Info(ctx)), tmux.ErrNotFound)
	// There is no default target: an error of its own, and an ErrNotFound.
	err := do(ctx, srv, tmux.ListPanes{All: true})
	isKind(t, "panes", err, tmux.ErrNoSession)
	isKind(t, "panes", err, tmux.ErrNotFound)
	type command struct {
		Name  string `tmux:"command_list_name"`
		Alias string `tmux:"command_list_alias"`
		Usage string `tmux:"command_list_usage"`
	}
	if cmds := must[[]command](t)(tmux.List[command](ctx, srv, tmux.ListCommands{})); len(cmds) < 80 || cmds[0].Name != "attach-session" || cmds[0].Alias != "attach" || cmds[0].Usage == "" {
		t.Errorf("commands %+v", cmds)
	}
	// A wait is not taken for one on a server that is about to end.
	ok(t, srv.Channel("c").Signal(ctx))
	ok(t, waitFor(t, srv, "c", time.Minute))
}

func TestWindowsOfASession(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	s := must[tmux.Session](t)(srv.SessionNamed(ctx, "main"))
	first := must[tmux.Window](t)(s.ActiveWindow(ctx))
	ok(t, first.Rename(ctx, "one"))
	newWindow := func(opts tmux.NewWindow) tmux.Window {
		t.Helper()
		return must[tmux.Window](t)(s.NewWindow(ctx, opts))
	}
	same := func(what string, want ...string) {
		t.Helper()
		equal(t, what, want, windowNames(must[[]tmux.Window](t)(s.Windows(ctx))))
	}
	two := newWindow(tmux.NewWindow{Name: "two", Detached: true})
	three := newWindow(tmux.NewWindow{Name: "three"})
	expect(t, !two.Active && three.Active && two.SessionID == s.ID && three.Index == 2, "two is %+v, three %+v", two, three)
	newWindow(tmux.NewWindow{Name: "between", Target: first, After: true, Detached: true})
	same("after the first", "one", "between", "two", "three")
	at9 := newWindow(tmux.NewWindow{Name: "nine", Target: s.At(9), Detached: true})
	equal(t, "index", 9, at9.Index)
	isKind(t, "a taken index", second(s.NewWindow(ctx, tmux.NewWindow{Target: s.At(9)})), tmux.ErrExists)
	again := newWindow(tmux.NewWindow{Name: "two", SelectExisting: true})
	expect(t, again.ID == two.ID && again.Active, "the existing window: %+v", again)
	made := newWindow(tmux.NewWindow{Name: "ten", SelectExisting: true})
	expect(t, made.Name == "ten" && made.Index == 4, "no existing window: %+v", made)
	format := tmux.NewWindow{Name: "#(x)", SelectExisting: true}
	isKind(t, "a name to select that is a format", second(s.NewWindow(ctx, format)), tmux.ErrArgument)

	ok(t, do(ctx, srv, tmux.PreviousWindow{Target: s}))
	equal(t, "before ten", "three", must[tmux.Window](t)(s.ActiveWindow(ctx)).Name)
	equal(t, "last", "ten", must[tmux.Window](t)(s.LastWindow(ctx)).Name)
	equal(t, "after ten", "nine", must[tmux.Window](t)(s.NextWindow(ctx)).Name)
	ok(t, s.RenumberWindows(ctx))
	equal(t, "renumbered to", 5, must[tmux.Window](t)(at9.Info(ctx)).Index)
	ok(t, do(ctx, srv, tmux.SwapWindow{Source: two, Target: at9, Detached: true}))
	equal(t, "swapped to", 5, must[tmux.Window](t)(two.Info(ctx)).Index)
	equal(t, "moved to", 20, must[tmux.Window](t)(two.Move(ctx, tmux.MoveWindow{Target: s.At(20), Detached: true})).Index)
	resized := must[tmux.Window](t)(two.Resize(ctx, tmux.ResizeWindow{Width: 60, Height: 20}))
	equal(t, "width and height", []int{60, 20}, []int{resized.Width, resized.Height})
	isKind(t, "a running window started again", second(two.Respawn(ctx, tmux.RespawnWindow{})), tmux.ErrRunning)
	must[tmux.Window](t)(two.Respawn(ctx, tmux.RespawnWindow{Kill: true, Command: []string{"sleep", "1000"}}))
	equal(t, "started", "sleep 1000", startCommand(must[tmux.Pane](t)(two.ActivePane(ctx))))
	ok(t, two.Kill(ctx))
	isKind(t, "a window that was killed", second(two.Info(ctx)), tmux.ErrNotFound)
	ok(t, first.KillOthers(ctx))
	same("the others killed", "one")
	isKind(t, "next of one window", second(s.NextWindow(ctx)), tmux.ErrNotFound)
}

// A window in two sessions, and the sessions of a group, are identified by id.
func TestLinkedWindowsAndGroups(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	a := must[tmux.Session](t)(srv.SessionNamed(ctx, "main"))
	b := must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "other"}))
	w := must[tmux.Window](t)(a.NewWindow(ctx, tmux.NewWindow{Name: "shared", Detached: true}))
	links := must[[]tmux.Window](t)(w.Link(ctx, tmux.LinkWindow{Target: b.At(7), Detached: true}))
	equal(t, "links", 2, len(links))
	index := map[tmux.SessionID]int{}
	for _, l := range links {
		index[l.SessionID] = l.Index
	}
	equal(t, "indexes", map[tmux.SessionID]int{a.ID: 1, b.ID: 7}, index)
	equal(t, "window", w.ID, must[tmux.Window](t)(w.Info(ctx)).ID)
	p := only[tmux.Pane](t)(w.Panes(ctx))
	got := must[tmux.Pane](t)(p.Info(ctx))
	expect(t, got.ID == p.ID && got.WindowID == w.ID, "pane %+v", got)
	// Selected in one session it is not in the other.
	ok(t, do(ctx, srv, tmux.SelectWindow{Target: b.Linked(w.ID)}))
	expect(t, must[tmux.Window](t)(a.ActiveWindow(ctx)).ID != w.ID, "selected in the other session")
	equal(t, "id", w.ID, must[tmux.Window](t)(b.ActiveWindow(ctx)).ID)
	ok(t, w.Unlink(ctx, b.ID))
	isKind(t, "unlinked again", w.Unlink(ctx, b.ID), tmux.ErrNotFound)
	isKind(t, "unlinked from its only session", w.Unlink(ctx, a.ID), tmux.ErrLastLink)

	c := must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "third", Group: a}))
	expect(t, c.ID != a.ID && len(must[[]tmux.Window](t)(c.Windows(ctx))) == 2, "grouped session: %+v", c)
	must[tmux.Window](t)(c.NewWindow(ctx, tmux.NewWindow{Name: "in both"}))
	names := windowNames(must[[]tmux.Window](t)(a.Windows(ctx)))
	expect(t, slices.Contains(names, "in both"), "windows of the group: %q", names)
	ok(t, w.Kill(ctx))
	ok(t, c.Kill(ctx))
	ok(t, second(a.Info(ctx)))
}

// An id that is none must not act on what tmux finds by that name or index.
func TestIDsAreChecked(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	isKind(t, "pane main", srv.Pane("main").Kill(ctx), tmux.ErrArgument)
	isKind(t, "window 0", srv.Window("0").Kill(ctx), tmux.ErrArgument)
	isKind(t, "session main", srv.Session("main").Kill(ctx), tmux.ErrArgument)
	isKind(t, "empty pane id", srv.Pane("").Kill(ctx), tmux.ErrArgument)
	isKind(t, "empty client name", srv.Client("").Detach(ctx), tmux.ErrArgument)
	isKind(t, "Info of session main", second(srv.Session("main").Info(ctx)), tmux.ErrArgument)
	isKind(t, "Command on pane main", second(srv.Pane("main").Command(ctx, "kill-pane")), tmux.ErrArgument)
	equal(t, "panes", 1, len(must[[]tmux.Pane](t)(srv.Panes(ctx))))
}

func TestCommandHasOneTarget(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	p0 := srv.Pane("%0")
	p1 := must[tmux.Pane](t)(p0.Split(ctx, tmux.SplitWindow{Detached: true}))
	out, err := p1.Command(ctx, "split-window", "-d", "-P", "-F", "#{pane_id}", "-l", "5")
	if err != nil || string(out) != "%2\n" {
		t.Fatalf("%q, %v", out, err)
	}
	for _, args := range [][]string{{"-t", "%0"}, {"-t%0"}, {"-dt", "%0"}, {"-dt%0"}, {"-d", "-l", "5", "-t", "%0"}, {"-l5", "-t%0"}, {"-hdt%0"}} {
		isKind(t, strings.Join(args, " "), second(p1.Command(ctx, "split-window", args...)), tmux.ErrArgument)
	}
	// What looks like a target and is a value, or a word after the flags.
	for _, args := range [][]string{{"-c", "-t"}, {"-dl5", "--", "-t"}, {"-d", "echo", "-t"}, {"-ct"}, {"-eA=-t"}} {
		if _, err := p1.Command(ctx, "split-window", append([]string{"-l", "1", "-d"}, args...)...); errors.Is(err, tmux.ErrArgument) {
			t.Errorf("%q: %v", args, err)
		}
		must[tmux.Window](t)(srv.Window(p1.WindowID).SelectLayout(ctx, tmux.EvenVertical))
	}
	isKind(t, "a command without target", second(p1.Command(ctx, "kill-server")), tmux.ErrArgument)
	isKind(t, "an alias with a target", second(p1.Command(ctx, "killp", "-at", "%0")), tmux.ErrArgument)
	must[[]byte](t)(p1.Command(ctx, "killp"))
	isKind(t, "after killp", second(p1.Info(ctx)), tmux.ErrNotFound)
}

func TestKeyBindings(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	script := must[string](t)(srv.Script(ctx, tmux.DisplayMessage{Message: "it's; #{pane_id}"}, tmux.NewWindow{Name: "a b"}))
	for _, key := range []string{"M-x", ";", `"`, "'", "#", "$", `\`, "{", "~", "%", "C-Space"} {
		ok(t, srv.Bind(ctx, tmux.BindKey{Table: "mine", Key: key, Repeat: true, Note: "a note", Command: []string{script}}))
		b := only[tmux.KeyBinding](t)(srv.KeyBindings(ctx, "mine"))
		expect(t, b.Key == key && b.Table == "mine" && b.Repeat && strings.HasPrefix(b.Command, "display-message "), "%s: %+v", key, b)
		ok(t, srv.Unbind(ctx, "mine", key))
	}
	if all := must[[]tmux.KeyBinding](t)(srv.KeyBindings(ctx, "")); len(all) < 100 {
		t.Errorf("%d bindings", len(all))
	}
	isKind(t, "no such table", second(srv.KeyBindings(ctx, "nosuch")), tmux.ErrNotFound)
	isKind(t, "no such key", srv.Bind(ctx, tmux.BindKey{Key: "NoSuchKey", Command: []string{"kill-server"}}), tmux.ErrArgument)
	ok(t, srv.Bind(ctx, tmux.BindKey{Root: true, Key: "F1", Command: []string{script}}))
	root := must[[]tmux.KeyBinding](t)(srv.KeyBindings(ctx, "root"))
	expect(t, slices.ContainsFunc(root, func(b tmux.KeyBinding) bool { return b.Key == "F1" }), "bindings %+v", root)
	isKind(t, "no key to unbind", srv.Unbind(ctx, "mine", ""), tmux.ErrArgument)
}

func TestServerAccess(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	if err := do(ctx, srv, tmux.ServerAccess{List: true}); errors.Is(err, tmux.ErrUnsupported) {
		return
	}
	list := func() []string {
		return strings.Split(string(must[[][]byte](t)(srv.Do(ctx, tmux.ServerAccess{List: true}))[0]), "\n")
	}
	before := list()
	ok(t, do(ctx, srv, tmux.ServerAccess{Allow: true, ReadOnly: true, Name: "daemon"}))
	entries := list()
	i := slices.IndexFunc(entries, func(e string) bool { return strings.HasPrefix(e, "daemon (") })
	expect(t, len(entries) == len(before)+1 && i >= 0 && !strings.Contains(entries[i], "W"), "entries %q", entries)
	isKind(t, "allowed again", do(ctx, srv, tmux.ServerAccess{Allow: true, Name: "daemon"}), tmux.ErrExists)
	ok(t, do(ctx, srv, tmux.ServerAccess{Deny: true, Name: "daemon"}))
	equal(t, "entries", len(before), len(list()))
}

package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/keys"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// What tmux knows as a key is one, and nothing else: otherwise tmux types the word. It may be
// a key for bindings that only later versions know, or one that is never sent: before 3.5
// tmux does not know some with C-.
func TestKeyNamesAreTmux(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	v := check.Must[tmux.Version](t)(srv.Version(ctx))
	extended := v.Has(tmux.Version{Major: 3, Minor: 5})
	names := slices.Concat(tmux.KeyNames, strings.Fields("Any None User0 User999 User1000 User 0x41 0x20ac 0xd800 0xzz 0X41 ^ ^a ^A ^[ ^? ^^ ^- "+
		"[NUL] [ESC] [FS] [dc1] C-[SUB] ü ы 你 あ ع € 😀 é éa e\u0301 ab -x -- a- C- C-- C M-- x-a X-Enter entr NoSuchKey C-NoSuchKey Enter; Enter, F0 F13 KP KPSlash Shift-Up Ctrl-C Esc Return"))
	for c := ' '; c <= '\x7f'; c++ {
		names = append(names, string(c))
	}
	keyboard := len(names) // those of the mouse are thousands of combinations of a few words
	for _, event := range strings.Fields("MouseDown MouseUp MouseDrag MouseDragEnd SecondClick DoubleClick TripleClick Wheel Mouse") {
		for _, button := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 Up Down -") {
			for _, at := range strings.Fields("Pane Status StatusLeft StatusRight StatusDefault ScrollbarUp ScrollbarSlider ScrollbarDown Empty Border Control0 Control9 Nowhere") {
				names = append(names, event+button+at)
			}
		}
	}
	for i, name := range names {
		if i >= keyboard && i%testtool.Size(7, 1) != 0 {
			continue
		}
		for _, modifiers := range []string{"", "C-", "m-", "S-", "C-M-S-", "C-C-"} {
			key := modifiers + name
			_, err := srv.Do(ctx, tmux.Raw{Name: "bind-key", Args: []string{"-T", "keys", "--", key, "list-keys"}})
			if err != nil && !errors.Is(err, tmux.ErrArgument) {
				t.Fatal(key, err)
			}
			is := tmux.CheckKey(func() (tmux.Version, error) { return v, nil }, key) == nil
			if known := err == nil; known != is && (known || !tmux.BoundKey(key) && (extended || keys.Plain(key))) {
				t.Errorf("%q: a key to tmux: %t, here: %t", key, known, is)
			}
		}
	}
}

func TestSendKeysRefuses(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	pane := record(t, srv)
	for _, c := range []struct {
		keys []string
		says string
	}{
		{nil, "no keys"},
		{[]string{""}, `"" is not a key`},
		{[]string{"a", "ls -l", "Enter"}, `"ls -l" is not a key; SendText and SendLine type text`},
		{[]string{"Entr"}, "did you mean Enter"},
		{[]string{"None"}, "not a key"},
		{[]string{"\n"}, "not a key"},
		{[]string{"Any"}, "key bindings only"},
		{[]string{"User0"}, "key bindings only"},
		{[]string{"C-MouseDown1Pane"}, "key bindings only"},
		{[]string{"S-Enter"}, "not enabled extended keys"},
		{[]string{"x", "C-Tab"}, "not enabled extended keys"},
		{[]string{"^Enter"}, "write C-Enter"},
		{[]string{"^C-a"}, "write C-C-a"},
		{[]string{"0x0"}, "not a key"},
		{[]string{"0x85"}, "not a key"},
	} {
		err := pane.SendKeys(ctx, c.keys...)
		check.Kind(t, fmt.Sprintf("%q", c.keys), err, tmux.ErrArgument)
		check.Contains(t, "error", fmt.Sprint(err), c.says)
	}
	check.Equal(t, "typed", "", string(pane.next(t)))
	// In a mode they are looked up in its table.
	check.OK(t, pane.CopyMode(ctx))
	check.OK(t, do(ctx, srv, tmux.BindKey{Table: "copy-mode", Key: "User0", Command: []string{"set-option -g @pressed yes"}}))
	check.OK(t, pane.SendKeys(ctx, "User0"))
	check.Equal(t, "@pressed", "yes", check.Must[string](t)(srv.GlobalSessionOptions().Get(ctx, "@pressed")))
	check.OK(t, pane.SendKeys(ctx, "C-Tab", "WheelUpPane"))
	check.Kind(t, "a key that does not exist", srv.Pane("%99").SendKeys(ctx, "C-Tab"), tmux.ErrNotFound)
}

// Nothing reads what is typed into such panes.
func TestNoInput(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	base := srv.Pane("%0")
	off := check.Must[tmux.Pane](t)(base.Split(ctx, tmux.SplitWindow{Command: []string{"exec sleep 1000"}})).PaneRef
	check.OK(t, off.Select(ctx, tmux.SelectPane{DisableInput: true}))
	dead := check.Must[tmux.Pane](t)(base.Split(ctx, tmux.SplitWindow{Command: []string{"exit"}})).PaneRef
	testserver.Wait(t, srv, string(dead.ID), "its end", func() bool {
		return check.Must[string](t)(dead.Display(ctx, "#{pane_dead}")) == "1"
	})
	nothing := tmux.SplitWindow{Empty: true}
	if v := check.Must[tmux.Version](t)(srv.Version(ctx)); !v.Has(tmux.Version{Major: 3, Minor: 7}) {
		nothing = tmux.SplitWindow{Command: []string{""}}
	}
	empty := check.Must[tmux.Pane](t)(base.Split(ctx, nothing)).PaneRef
	for what, pane := range map[string]tmux.PaneRef{"disabled": off, "dead": dead, "empty": empty} {
		check.Kind(t, what+": keys", pane.SendKeys(ctx, "a"), tmux.ErrNoInput)
		check.Kind(t, what+": text", pane.SendText(ctx, "a"), tmux.ErrNoInput)
		check.Kind(t, what+": a line", pane.SendLine(ctx, "a"), tmux.ErrNoInput)
		check.Kind(t, what+": a paste", pane.Paste(ctx, []byte("a"), tmux.PasteOptions{}), tmux.ErrNoInput)
		check.OK(t, pane.CopyMode(ctx))
		check.OK(t, pane.SendKeys(ctx, "Left"))
		check.Kind(t, what+": a paste in copy mode", pane.Paste(ctx, []byte("a"), tmux.PasteOptions{}), tmux.ErrNoInput)
	}
	check.Equal(t, "buffers left", 0, len(check.Must[[]tmux.Buffer](t)(srv.Buffers(ctx, ""))))
	check.Kind(t, "a pane that is gone", srv.Pane("%99").SendText(ctx, "a"), tmux.ErrNotFound)
}

// tmux takes the home directory instead of one that is missing.
func TestDirectoriesThatCannotBe(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	dir := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o700))
	pane, session := srv.Pane("%0"), srv.Session("$0")
	for _, missing := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "file"), "~", "no/such"} {
		for what, err := range map[string]error{
			"NewSession": check.Second(srv.NewSession(ctx, tmux.NewSession{Dir: missing})),
			"NewWindow":  check.Second(session.NewWindow(ctx, tmux.NewWindow{Dir: missing})),
			"Split":      check.Second(pane.Split(ctx, tmux.SplitWindow{Dir: missing})),
			"Float":      check.Second(pane.Float(ctx, tmux.NewPane{Dir: missing})),
			"Respawn":    check.Second(pane.Respawn(ctx, tmux.RespawnPane{Kill: true, Dir: missing})),
			"a window":   check.Second(srv.Window("@0").Respawn(ctx, tmux.RespawnWindow{Kill: true, Dir: missing})),
			"a pipe":     pane.PipeToFile(ctx, filepath.Join("/", missing, "log")),
		} {
			check.Kind(t, what+" in "+missing, err, tmux.ErrArgument)
		}
	}
	check.Kind(t, "without a server", check.Second(testserver.New(t).NewSession(ctx, tmux.NewSession{Dir: filepath.Join(dir, "none")})), tmux.ErrArgument)
	check.Equal(t, "panes", 1, len(check.Must[[]tmux.Pane](t)(srv.Panes(ctx))))
	here := check.Must[string](t)(os.Getwd())
	made := check.Must[tmux.Pane](t)(pane.Split(ctx, tmux.SplitWindow{Dir: "testdata", Command: []string{"exec sleep 1000"}}))
	testserver.WaitDisplay(t, made.PaneRef, "#{pane_current_path}", filepath.Join(here, "testdata"))
}

func TestCopyCommandsAreTmux(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	v := check.Must[tmux.Version](t)(srv.Version(ctx))
	known := tmux.CopyCommands(v)
	// Those that tmux itself binds.
	bindings := slices.Concat(check.Must[[]tmux.KeyBinding](t)(srv.KeyBindings(ctx, "copy-mode")), check.Must[[]tmux.KeyBinding](t)(srv.KeyBindings(ctx, "copy-mode-vi")))
	bound := 0
	for _, b := range bindings {
		for _, command := range strings.Split(b.Command, "send-keys ")[1:] {
			words := strings.Fields(command)
			for len(words) > 0 && strings.HasPrefix(words[0], "-") {
				words = words[1:]
			}
			if strings.Contains(command, "-N") {
				words = words[min(1, len(words)):]
			}
			if len(words) == 0 || !strings.Contains(command, "X ") {
				continue
			}
			name := strings.Trim(words[0], `"';\}`)
			bound++
			check.That(t, slices.Contains(known, name), "tmux %s binds %s to %s, which is not known", v, b.Key, name)
		}
	}
	check.That(t, bound > 50, "only %d commands are bound", bound)
	pane := srv.Pane("%0")
	err := pane.CopyCommand(ctx, "serch-backward", "x")
	check.Kind(t, "misspelt", err, tmux.ErrArgument)
	check.Contains(t, "error", err.Error(), "did you mean search-backward")
	check.OK(t, pane.CopyMode(ctx))
	if !v.Has(tmux.Version{Major: 3, Minor: 6}) {
		check.Kind(t, "of a later tmux", pane.CopyCommand(ctx, "selection-mode", "word"), tmux.ErrUnsupported)
	}
	check.OK(t, pane.CopyCommand(ctx, "history-top"))
}

// Texts that tmux would take for something else.
func TestTargetsThatCannotBe(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	session := srv.Session("$0")
	_, err := session.NewWindow(ctx, tmux.NewWindow{Detached: true})
	check.OK(t, err)
	check.OK(t, check.Second(srv.SetBuffer(ctx, "newest", []byte("x"))))
	var none tmux.Target
	for what, err := range map[string]error{
		"no name":                  do(ctx, srv, tmux.KillSession{Target: tmux.Named("")}),
		"a window's":               do(ctx, srv, tmux.KillSession{Target: tmux.Named("main:0")}),
		"an id":                    do(ctx, srv, tmux.KillSession{Target: tmux.Named("$0")}),
		"an index before":          do(ctx, srv, tmux.KillWindow{Target: session.At(-1)}),
		"a window's, by its index": do(ctx, srv, tmux.KillWindow{Target: session.Linked("1")}),
		"no session's":             do(ctx, srv, tmux.KillWindow{Target: srv.Session("main").At(0)}),
		"the newest buffer":        check.Second(srv.Buffer("").Bytes(ctx)),
		"to paste":                 check.Second(srv.Buffer("").Pasting(ctx, session, tmux.PasteOptions{})),
		"nowhere":                  srv.Client("/dev/pts/0").Switch(ctx, none),
		"a size of 0":              check.Second(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Size: tmux.Cells(0)})),
		"a width of 0":             check.Second(srv.Pane("%0").Resize(ctx, tmux.ResizePane{Width: tmux.Percent(0)})),
		"nothing to bind":          srv.Bind(ctx, tmux.BindKey{Key: "F1"}),
		"another session":          check.Second(session.NewWindow(ctx, tmux.NewWindow{Target: srv.Session("$1").At(3)})),
		"no size":                  check.Second(srv.Pane("%0").Resize(ctx, tmux.ResizePane{By: 3})),
		"no size of a window":      check.Second(srv.Window("@0").Resize(ctx, tmux.ResizeWindow{})),
		"no name to rename to":     session.Rename(ctx, ""),
	} {
		check.Kind(t, what, err, tmux.ErrArgument)
	}
	for _, name := range []string{"a/b", "/tmp/s", ".", ".."} {
		check.Kind(t, "socket "+name, check.Second(tmux.New(tmux.Config{Binary: srv.Binary(), SocketName: name})), tmux.ErrArgument)
	}
	v := check.Must[tmux.Version](t)(srv.Version(ctx))
	for _, name := range []string{"a:b", "a.b"} {
		_, made := srv.NewSession(ctx, tmux.NewSession{Name: name})
		err := session.Rename(ctx, name+"2")
		if v.Has(tmux.Version{Major: 3, Minor: 7, Letter: 'a'}) {
			check.OK(t, errors.Join(made, err))
			continue
		}
		check.Kind(t, "a session "+name, made, tmux.ErrArgument)
		check.Kind(t, "renamed "+name, err, tmux.ErrArgument)
		check.Kind(t, "before there is a server", check.Second(testserver.New(t).NewSession(ctx, tmux.NewSession{Name: name})), tmux.ErrArgument)
	}
	check.Equal(t, "windows", 2, len(check.Must[[]tmux.Window](t)(session.Windows(ctx))))
}

// tmux selects nothing if a pane has no neighbour.
func TestSelectNeighbours(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	top := srv.Pane("%0")
	for what, opts := range map[string]tmux.SelectPane{"left": {Left: true}, "right": {Right: true}, "up": {Up: true}, "down": {Down: true}} {
		check.Kind(t, what, top.Select(ctx, opts), tmux.ErrNotFound)
	}
	below := check.Must[tmux.Pane](t)(top.Split(ctx, tmux.SplitWindow{}))
	active := func() tmux.PaneID { return check.Must[tmux.Pane](t)(srv.Window("@0").ActivePane(ctx)).ID }
	check.Kind(t, "beside", below.Select(ctx, tmux.SelectPane{Left: true}), tmux.ErrNotFound)
	check.Equal(t, "active", below.ID, active())
	check.OK(t, below.Select(ctx, tmux.SelectPane{Down: true})) // at the other edge
	check.Equal(t, "active", top.ID, active())
	check.OK(t, below.Zoom(ctx))
	check.OK(t, below.Select(ctx, tmux.SelectPane{Up: true}))
	check.Equal(t, "active", top.ID, active())
	check.Kind(t, "of no pane", srv.Pane("%99").Select(ctx, tmux.SelectPane{Up: true}), tmux.ErrNotFound)
}

// What is no key is answered with the key that may be meant, in tmux's spelling.
func TestMeantKeys(t *testing.T) {
	t.Parallel()
	newest := func() (tmux.Version, error) { return tmux.Version{Major: 3, Minor: 8}, nil }
	for want, words := range map[string]string{
		"C-c": "Ctrl-C ctrl+c Control-c <C-c> <c-c>", "M-x": "Alt-x Alt+X <M-x>", "Up": "ArrowUp <Up> UpArrow", "Escape": "Esc <esc>",
		"BTab": "Shift-Tab Shift+Tab", "C-M-Left": "Ctrl+Alt+Left", "Enter": "Return <Return>", "BSpace": "Backspace",
	} {
		for word := range strings.FieldsSeq(words) {
			if err := tmux.CheckKey(newest, word); err == nil || !strings.Contains(err.Error(), "; did you mean "+want+"?") {
				t.Errorf("%s: %v, want %s", word, err, want)
			}
		}
	}
	for _, word := range []string{"", "hello", "make test", "<html>", "a+b"} {
		if err := tmux.CheckKey(newest, word); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%q: %v", word, err)
		}
	}
}

package tmux_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// from reports whether this tmux is release 3.minor or later.
func from(t testing.TB, srv *tmux.Server, minor int) bool {
	t.Helper()
	v := must[tmux.Version](t)(srv.Version(tmuxtest.Context(t)))
	return v.Has(tmux.Version{Major: 3, Minor: minor})
}

// isRelease38 reports whether this tmux is 3.8 or later, and not one of the development versions
// before it, which lack some of its features.
func isRelease38(t testing.TB, srv *tmux.Server) bool {
	t.Helper()
	v := must[tmux.Version](t)(srv.Version(tmuxtest.Context(t)))
	return v.Compare(tmux.Version{Major: 3, Minor: 8}) >= 0
}

func paneRow(t testing.TB, srv *tmux.Server, id string) tmux.Pane {
	t.Helper()
	return only(t, func(p tmux.Pane) bool { return string(p.ID) == id }, srv, tmux.ListPanes{All: true})
}

func windowRow(t testing.TB, srv *tmux.Server, session string, index int) tmux.Window {
	t.Helper()
	return only(t, func(w tmux.Window) bool { return w.Index == index }, srv, tmux.ListWindows{Target: tmux.Named(session)})
}

func sessionRow(t testing.TB, srv *tmux.Server, name string) tmux.Session {
	t.Helper()
	return only(t, func(s tmux.Session) bool { return s.Name == name }, srv, tmux.ListSessions{})
}

// only is the one row of the list for which is answers true.
func only[R any](t testing.TB, is func(R) bool, srv *tmux.Server, list tmux.Lister) R {
	t.Helper()
	rows := must[[]R](t)(tmux.List[R](tmuxtest.Context(t), srv, list))
	found := slices.DeleteFunc(slices.Clone(rows), func(r R) bool { return !is(r) })
	equal(t, "len(found)", 1, len(found))
	return found[0]
}

// ptr is for what a row has only if cond holds.
func ptr[T any](cond bool, value T) *T {
	if !cond {
		return nil
	}
	return &value
}

func TestZoomedTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	zoomed := tmuxtest.Run(t, srv, "split-window", "-P", "-F", "#{pane_id}")
	before := windowRow(t, srv, "main", 0)
	tmuxtest.Run(t, srv, "resize-pane", "-Z")
	w := windowRow(t, srv, "main", 0)
	equal(t, "zoomed", []bool{false, true}, []bool{before.Zoomed, w.Zoomed})
	equal(t, "panes", 2, w.PaneCount)
	equal(t, "layout", before.Layout, w.Layout)
	equal(t, "flags", "*Z", w.Flags)
	if before.VisibleLayout != before.Layout || w.VisibleLayout == w.Layout {
		t.Errorf("visible layout: %q before, %q zoomed", before.VisibleLayout, w.VisibleLayout)
	}
	is37 := from(t, srv, 7)
	p, q := paneRow(t, srv, zoomed), paneRow(t, srv, "%0")
	equal(t, "zoomed pane", []*bool{ptr(is37, true), ptr(is37, false)}, []*bool{p.Zoomed, q.Zoomed})
	equal(t, "parents", []string{string(w.ID), string(w.SessionID)}, []string{string(p.WindowID), string(p.SessionID)})
	if p.UnzoomedHeight != nil && *p.UnzoomedHeight >= p.Height {
		t.Errorf("height %d, unzoomed %d", p.Height, *p.UnzoomedHeight)
	}
}

func TestMarkedTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "other")
	marked := func() []bool {
		p, w, s := paneRow(t, srv, "%0"), windowRow(t, srv, "main", 0), sessionRow(t, srv, "main")
		q, o := paneRow(t, srv, "%1"), sessionRow(t, srv, "other")
		return []bool{p.Marked, w.Marked, s.Marked, p.MarkedSet, q.MarkedSet, q.Marked, o.Marked}
	}
	equal(t, "no mark", []bool{false, false, false, false, false, false, false}, marked())
	tmuxtest.Run(t, srv, "select-pane", "-m", "-t", "%0")
	equal(t, "mark", []bool{true, true, true, true, true, false, false}, marked())
}

func TestDeadPaneTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	is33 := from(t, srv, 3)
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	for _, test := range []struct {
		command string
		status  *int
		signal  bool
	}{
		{"exit 0", ptr(true, 0), false},
		{"exit 3", ptr(true, 3), false},
		{"kill -9 $$", nil, true},
	} {
		id := tmuxtest.Run(t, srv, "new-window", "-P", "-F", "#{pane_id}", test.command)
		var p tmux.Pane
		tmuxtest.Wait(t, srv, id, "dead pane", func() bool {
			p = paneRow(t, srv, id)
			tmuxtest.Reap(t, srv)
			return p.Dead && (!is33 || p.DeadTime != nil)
		})
		equal(t, test.command+": status", test.status, p.DeadStatus)
		if got := p.DeadSignal != nil; got != (test.signal && is33) || got && *p.DeadSignal != "9" && *p.DeadSignal != "KILL" {
			t.Errorf("%s: signal %+v", test.command, p.DeadSignal)
		}
		if p.DeadTime != nil && time.Since(*p.DeadTime) > time.Minute {
			t.Errorf("%s: died %v ago", test.command, time.Since(*p.DeadTime))
		}
		equal(t, test.command+": path", (*string)(nil), p.CurrentPath)
		equal(t, test.command+": start", ptr(true, `"`+test.command+`"`), p.StartCommand)
	}
	var p tmux.Pane
	tmuxtest.Wait(t, srv, "%0", "program that runs", func() bool {
		p = paneRow(t, srv, "%0")
		return p.CurrentPath != nil
	})
	if p.Dead || p.DeadStatus != nil || p.DeadSignal != nil || p.DeadTime != nil || p.PID == nil || p.CurrentPath == nil || p.StartCommand != nil {
		t.Errorf("a live pane: %+v", p)
	}
}

func TestPaneWithoutProgram(t *testing.T) {
	t.Parallel()
	srv := started(t)
	id := tmuxtest.Run(t, srv, "split-window", "-P", "-F", "#{pane_id}", "")
	p := paneRow(t, srv, id)
	equal(t, "terminal", (*string)(nil), p.TTY)
	equal(t, "dead", !from(t, srv, 7), p.Dead)
	equal(t, "process", ptr(!from(t, srv, 8), 0), p.PID)
	if q := paneRow(t, srv, "%0"); q.TTY == nil || !strings.HasPrefix(*q.TTY, "/dev/") {
		t.Errorf("a pane with a program has no terminal: %+v", q)
	}
}

func TestGroupedSessionTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "twin", "-t", "main")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "alone")
	s, alone := sessionRow(t, srv, "main"), sessionRow(t, srv, "alone")
	equal(t, "grouped", []bool{true, false}, []bool{s.Grouped, alone.Grouped})
	equal(t, "group", []*string{ptr(true, "main"), nil}, []*string{s.Group, alone.Group})
	equal(t, "size", []*int{ptr(true, 2), nil}, []*int{s.GroupSize, alone.GroupSize})
	equal(t, "attached", []*int{ptr(true, 0), nil}, []*int{s.GroupAttached, alone.GroupAttached})
	equal(t, "many", []*bool{ptr(true, false), nil}, []*bool{s.GroupManyAttached, alone.GroupManyAttached})
	equal(t, "absent lists", [][]string{nil, nil}, [][]string{alone.GroupList, alone.GroupAttachedList})
	list := slices.Sorted(slices.Values(s.GroupList))
	equal(t, "members", []string{"main", "twin"}, list)
	equal(t, "empty list", []string{}, s.AttachedList)
	equal(t, "never attached", (*time.Time)(nil), s.LastAttached)
	w := windowRow(t, srv, "main", 0)
	linked := slices.Sorted(slices.Values(w.LinkedSessionsList))
	equal(t, "linked", []string{"main", "twin"}, linked)
	// A group counts once from 3.6.
	equal(t, "links", map[bool]int{false: 2, true: 1}[from(t, srv, 6)], w.LinkedSessions)
}

func TestAlertTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	is36 := from(t, srv, 6)
	quiet := sessionRow(t, srv, "main")
	equal(t, "no alerts", []string{}, quiet.Alerts)
	equal(t, "no alert, but known", ptr(is36, ""), quiet.Alert)
	tmuxtest.Run(t, srv, "new-window", "-d", `sleep 0.1; printf '\a'; exec sleep 100`)
	tmuxtest.Wait(t, srv, "main:1", "bell", func() bool { return windowRow(t, srv, "main", 1).Bell })
	w, s := windowRow(t, srv, "main", 1), sessionRow(t, srv, "main")
	equal(t, "flags", []string{"!", "!"}, []string{w.Flags, w.RawFlags})
	equal(t, "alerts", []string{"1!"}, s.Alerts)
	equal(t, "alert", ptr(is36, "!"), s.Alert)
	// Before 3.8 only the first window counts.
	equal(t, "a bell", ptr(is36, isRelease38(t, srv)), s.Bell)

	tmuxtest.Run(t, srv, "set-option", "-g", "monitor-activity", "on")
	tmuxtest.Run(t, srv, "new-window", "-d", `sleep 0.1; echo x; exec sleep 100`)
	tmuxtest.Wait(t, srv, "main:2", "activity", func() bool { return windowRow(t, srv, "main", 2).ActivityFlag })
	w = windowRow(t, srv, "main", 2)
	equal(t, "flags", []string{"##", "#"}, []string{w.Flags, w.RawFlags})
	equal(t, "alerts", []string{"1!", "2#"}, sessionRow(t, srv, "main").Alerts)
}

func TestModeTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	p := paneRow(t, srv, "%0")
	equal(t, "no mode", 0, p.InMode)
	equal(t, "no mode", (*string)(nil), p.Mode)
	equal(t, "no search", (*string)(nil), p.SearchString)
	tmuxtest.Run(t, srv, "copy-mode")
	tmuxtest.Run(t, srv, "send-keys", "-X", "search-backward", "no|such\ntext")
	p = paneRow(t, srv, "%0")
	equal(t, "mode", ptr(true, "copy-mode"), p.Mode)
	equal(t, "search", ptr(true, "no|such\ntext"), p.SearchString)
	tmuxtest.Run(t, srv, "clock-mode")
	p = paneRow(t, srv, "%0")
	equal(t, "two modes", 2, p.InMode)
	equal(t, "the one on top", ptr(true, "clock-mode"), p.Mode)
	tmuxtest.Run(t, srv, "set-option", "-w", "synchronize-panes", "on")
	tmuxtest.Run(t, srv, "select-pane", "-d")
	p = paneRow(t, srv, "%0")
	equal(t, "synchronized, input off", []bool{true, true}, []bool{p.Synchronized, p.InputOff})
}

func TestPipeTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	p := paneRow(t, srv, "%0")
	equal(t, "piped", false, p.Piped)
	equal(t, "its process", (*int)(nil), p.PipePID)
	tmuxtest.Run(t, srv, "pipe-pane", "exec cat >/dev/null")
	p = paneRow(t, srv, "%0")
	equal(t, "piped", true, p.Piped)
	if (p.PipePID != nil) != from(t, srv, 7) || p.PipePID != nil && *p.PipePID <= 1 {
		t.Errorf("process of the pipe: %+v", p.PipePID)
	}
}

// What a program asks of its terminal is what the tokens say.
func TestScreenTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	const script = `printf '\033[3;10r\033[?1049h\033[?1h\033=\033[4h\033[?6h\033[?25l\033[?7l\033[?1002h\033[?1006h\033[?2004h` +
		`\033]7;file://h/tmp/x\033\\\033]2;a title\033\\\033[4 q\033]12;#ff0000\033\\\033]9;4;1;42\033\\\033[2;5H'; exec sleep 100`
	id := tmuxtest.Run(t, srv, "new-window", "-P", "-F", "#{pane_id}", script)
	plain := paneRow(t, srv, "%0")
	var p tmux.Pane
	tmuxtest.Wait(t, srv, id, "title", func() bool { p = paneRow(t, srv, id); return p.Title == "a title" && p.CursorX == 4 })
	is36, is37, is38 := from(t, srv, 6), from(t, srv, 7), from(t, srv, 8)
	type flags struct {
		Alternate, KeypadCursor, Keypad, Insert, Origin, CursorVisible, Wrap bool
		MouseAny, MouseAll, MouseButton, MouseStandard, MouseSGR, MouseUTF8  bool
		BracketPaste                                                         *bool
	}
	of := func(p tmux.Pane) flags {
		return flags{p.AlternateOn, p.KeypadCursor, p.Keypad, p.Insert, p.Origin, p.CursorVisible, p.Wrap,
			p.MouseAny, p.MouseAll, p.MouseButton, p.MouseStandard, p.MouseSGR, p.MouseUTF8, p.BracketPaste}
	}
	equal(t, "flags", flags{Alternate: true, KeypadCursor: true, Keypad: true, Insert: true, Origin: true,
		MouseAny: true, MouseButton: true, MouseSGR: true, BracketPaste: ptr(is37, true)}, of(p))
	equal(t, "scroll region", []int{2, 9}, []int{p.ScrollRegionUpper, p.ScrollRegionLower})
	equal(t, "path", ptr(true, "file://h/tmp/x"), p.Path)
	equal(t, "cursor", []*string{ptr(is36, "underline"), ptr(is36, "#ff0000")}, []*string{p.CursorShape, p.CursorColour})
	equal(t, "progress", ptr(is37, 42), p.Progress)
	equal(t, "progress", ptr(is37, "normal"), p.ProgressState)
	var modes []int
	if is38 {
		modes = []int{1, 6, 1002, 1006, 2004}
	}
	equal(t, "private modes", modes, p.PrivateModes)
	equal(t, "saved cursor", []int64{0, 0}, []int64{p.AlternateSavedX, p.AlternateSavedY})

	equal(t, "plain", flags{CursorVisible: true, Wrap: true, BracketPaste: ptr(is37, plain.BracketPaste != nil && *plain.BracketPaste)}, of(plain))
	equal(t, "plain path", (*string)(nil), plain.Path)
	equal(t, "plain progress", []*string{ptr(is37, "hidden"), ptr(is36, "none")}, []*string{plain.ProgressState, plain.CursorColour})
	equal(t, "tabs", []int{8, 16, 24, 32, 40, 48, 56, 64, 72}, plain.Tabs)
	equal(t, "size", []int{80, 79, plain.Height - 1}, []int{plain.Width, plain.Right, plain.Bottom})
	equal(t, "colours", []string{"default", "default"}, []string{plain.Fg, plain.Bg})
	equal(t, "saved cursor", int64(1)<<32-1, plain.AlternateSavedX)
	if n := len(plain.HistoryAllBytes); n != 6 || plain.HistoryBytes <= 0 {
		t.Errorf("history: %v, %d bytes", plain.HistoryAllBytes, plain.HistoryBytes)
	}
}

func TestHistoryTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	id := tmuxtest.Run(t, srv, "new-window", "-P", "-F", "#{pane_id}", "seq 100; exec sleep 100")
	tmuxtest.WaitScreen(t, srv, id, "100")
	p := paneRow(t, srv, id)
	equal(t, "history", []int{77, 2000}, []int{p.HistorySize, p.HistoryLimit})
	if p.HistoryAdded == nil {
		return // a tmux before 3.8
	}
	equal(t, "added, dropped", []int64{77, 0}, []int64{*p.HistoryAdded, *p.HistoryCollected})
	tmuxtest.Run(t, srv, "clear-history", "-t", id)
	q := paneRow(t, srv, id)
	if *q.HistoryGeneration == *p.HistoryGeneration || *q.OutputGeneration < *p.OutputGeneration {
		t.Errorf("generation %d, cleared %d; output %d, then %d", *p.HistoryGeneration, *q.HistoryGeneration, *p.OutputGeneration, *q.OutputGeneration)
	}
}

func TestSessionTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "new-window", "-n", "a|b c")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "main:7")
	s := sessionRow(t, srv, "main")
	equal(t, "windows: how many, current, last", []int{3, 1, 7}, []int{s.WindowCount, s.ActiveWindowIndex, s.LastWindowIndex})
	equal(t, "stack", []int{1, 0}, s.Stack)
	equal(t, "name", "a|b c", windowRow(t, srv, "main", 1).Name)
	w := windowRow(t, srv, "main", 0)
	equal(t, "window 0", []bool{false, true, true, false}, []bool{w.Active, w.Last, w.Start, w.End})
	equal(t, "its place", 1, w.StackIndex)
	equal(t, "its kind", true, w.WindowFormat)
	equal(t, "kinds", []bool{true, true}, []bool{s.SessionFormat, paneRow(t, srv, "%0").PaneFormat})
	if age := time.Since(s.Created); age < -time.Second || age > time.Minute {
		t.Errorf("created %v ago", age)
	}
	equal(t, "manual width", (*int)(nil), w.ManualWidth)
	tmuxtest.Run(t, srv, "resize-window", "-x", "70", "-y", "20", "-t", "main:0")
	equal(t, "manual width", ptr(from(t, srv, 8), 70), windowRow(t, srv, "main", 0).ManualWidth)
}

func TestServerTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	info := func() tmux.ServerInfo {
		return only(t, func(tmux.ServerInfo) bool { return true }, srv, tmux.DisplayMessage{})
	}
	i := info()
	out := must[[]byte](t)(exec.Command(srv.Binary(), "-V").Output())
	equal(t, "version", strings.TrimSpace(string(out)), "tmux "+i.Version)
	equal(t, "socket", srv.SocketPath(), i.SocketPath)
	equal(t, "configuration", []string{"/dev/null"}, i.ConfigFiles)
	equal(t, "sessions", ptr(from(t, srv, 4), 1), i.SessionCount)
	equal(t, "next session", ptr(from(t, srv, 3), tmux.SessionID("$1")), i.NextSessionID)
	v := must[tmux.Version](t)(srv.Version(tmuxtest.Context(t)))
	// 3.6 brought it, and 3.8 took it away.
	equal(t, "loop", ptr(v.Major == 3 && (v.Minor == 6 || v.Minor == 7), false), i.LoopLast)
	if time.Since(i.StartTime) > time.Minute || i.PID <= 1 || i.Host == "" || !strings.Contains(i.TreeModeFormat, "#{") {
		t.Errorf("%+v", i)
	}
	tmuxtest.Run(t, srv, "set-option", "-g", "exit-empty", "off")
	tmuxtest.Run(t, srv, "kill-session")
	equal(t, "without sessions", ptr(from(t, srv, 4), 0), info().SessionCount)
}

func TestBufferTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "set-buffer", "-b", "a b:c", "one\ntwo")
	b := only(t, func(tmux.Buffer) bool { return true }, srv, tmux.ListBuffers{})
	equal(t, "name", "a b:c", b.Name)
	equal(t, "size", int64(7), b.Size)
	equal(t, "sample", `one\ntwo`, b.Sample)
	if time.Since(b.Created) > time.Minute {
		t.Errorf("created %v", b.Created)
	}
}

// controlClient attaches a control client and returns its row.
func controlClient(t *testing.T, srv *tmux.Server) tmux.Client {
	t.Helper()
	cmd := exec.Command(srv.Binary(), "-u", "-S", srv.SocketPath(), "-C", "attach-session", "-t", "main")
	cmd.Env = []string{"TERM=screen", "HOME=" + filepath.Dir(srv.SocketPath())}
	stdin := must[io.WriteCloser](t)(cmd.StdinPipe())
	ok(t, cmd.Start())
	t.Cleanup(func() { stdin.Close(); cmd.Process.Kill(); cmd.Wait() })
	var rows []tmux.Client
	tmuxtest.Wait(t, srv, "%0", "client", func() bool {
		rows = must[[]tmux.Client](t)(srv.Clients(tmuxtest.Context(t)))
		return slices.ContainsFunc(rows, func(c tmux.Client) bool { return c.ControlMode })
	})
	return rows[slices.IndexFunc(rows, func(c tmux.Client) bool { return c.ControlMode })]
}

func TestControlClientTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	c := controlClient(t, srv)
	equal(t, "no terminal", []*int{nil, nil, nil, nil}, []*int{c.Height, c.CellHeight, c.CellWidth, c.Colours})
	equal(t, "no terminal", []*string{nil, nil, nil, nil}, []*string{c.TTY, c.Termtype, c.Theme, c.LastSession})
	equal(t, "name", fmt.Sprintf("client-%d", c.PID), c.Name)
	equal(t, "session", "main", c.Session)
	equal(t, "utf8, prefix, readonly", []bool{true, false, false}, []bool{c.UTF8, c.Prefix, c.Readonly})
	if !slices.Contains(c.Flags, "control-mode") || !slices.Contains(c.Flags, "attached") {
		t.Errorf("flags %q", c.Flags)
	}
	is33 := from(t, srv, 3)
	equal(t, "user", []bool{is33, is33}, []bool{c.UID != nil, c.User != nil})
	s := sessionRow(t, srv, "main")
	equal(t, "attached", []string{c.Name}, s.AttachedList)
	equal(t, "attached", 1, s.Attached)
	if s.LastAttached == nil || time.Since(*s.LastAttached) > time.Minute {
		t.Errorf("last attached %v", s.LastAttached)
	}
	equal(t, "active for a client that is not attached", ptr(isRelease38(t, srv), false), s.Active)
}

// Asking for an object that is gone must not kill the server, as tmux 3.2a would have it.
func TestTokensOfNothing(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	type row struct {
		PaneID  tmux.PaneID `tmux:"pane_id"`
		Fg      string      `tmux:"pane_fg"`
		Session *time.Time  `tmux:"session_created"`
		Window  *time.Time  `tmux:"window_activity"`
		Client  *time.Time  `tmux:"client_created"`
		Version string      `tmux:"version"`
	}
	rows, err := tmux.List[row](ctx, srv, tmux.DisplayMessage{Target: tmux.PaneID("%99")})
	if err != nil || len(rows) != 1 || rows[0].PaneID != "" || rows[0].Session != nil || rows[0].Version == "" {
		t.Fatalf("%+v, %v", rows, err)
	}
	rows, err = tmux.List[row](ctx, srv, tmux.DisplayMessage{Target: tmux.PaneID("%0")})
	if err != nil || len(rows) != 1 || rows[0].Session == nil || rows[0].Window == nil || rows[0].Fg != "default" || rows[0].Client != nil {
		t.Fatalf("%+v, %v", rows, err)
	}
}

// rowTypes are the generated rows, each with a list that has a row of it.
func rowTypes(t *testing.T, srv *tmux.Server) map[string]any {
	t.Helper()
	tmuxtest.Run(t, srv, "set-buffer", "x")
	return map[string]any{
		"server":  only(t, func(tmux.ServerInfo) bool { return true }, srv, tmux.DisplayMessage{}),
		"session": sessionRow(t, srv, "main"),
		"window":  windowRow(t, srv, "main", 0),
		"pane":    paneRow(t, srv, "%0"),
		"client":  controlClient(t, srv),
		"buffer":  only(t, func(tmux.Buffer) bool { return true }, srv, tmux.ListBuffers{}),
	}
}

// What this tmux does not know is nil; what it knows and always has is not; and each row holds all
// tokens of its scope.
func TestAbsentIsNotFalse(t *testing.T) {
	t.Parallel()
	srv := started(t)
	v := must[tmux.Version](t)(srv.Version(tmuxtest.Context(t)))
	for scope, r := range rowTypes(t, srv) {
		fields := make(map[string]reflect.Value)
		for i := range reflect.TypeOf(r).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(r).Field(i).Tag.Get("tmux"), ",")
			fields[name] = reflect.ValueOf(r).Field(i)
		}
		for _, token := range tmux.Tokens() {
			if string(token.Scope) != scope || token.Name == "buffer_full" {
				continue
			}
			f, ok := fields[token.Name]
			if !ok {
				t.Errorf("the row of a %s has no %s", scope, token.Name)
				continue
			}
			nilable := f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice
			switch {
			case v.Next && token.Since.Minor == v.Minor: // a development version may lack it yet
			case !token.In(v) && (!nilable || !f.IsNil()):
				t.Errorf("%s is %v on tmux %v, which does not know it", token.Name, f, v)
			case token.In(v) && !token.Nullable && nilable && f.IsNil():
				t.Errorf("%s is nil on tmux %v, which knows it", token.Name, v)
			}
		}
	}
}

// Rows become JSON with tmux's own words, and null for what is absent.
func TestRowsAsJSON(t *testing.T) {
	t.Parallel()
	for scope, r := range rowTypes(t, started(t)) {
		data := must[[]byte](t)(json.Marshal(r))
		var got map[string]json.RawMessage
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v in %s", scope, err, data)
		}
		for i := range reflect.TypeOf(r).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(r).Field(i).Tag.Get("tmux"), ",")
			value, ok := got[name]
			f := reflect.ValueOf(r).Field(i)
			isNil := (f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice) && f.IsNil()
			if !ok || isNil != (string(value) == "null") {
				t.Errorf("%s: %s is %v in Go and %s in JSON", scope, name, f, value)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("%s: JSON has also %v", scope, got)
		}
	}
}

// A field of a row would hide a method or field of the same name of the handle it embeds.
func TestRowFieldsHideNothing(t *testing.T) {
	t.Parallel()
	for _, r := range []any{tmux.Session{}, tmux.Window{}, tmux.Pane{}, tmux.Client{}, tmux.Buffer{}} {
		row := reflect.TypeOf(r)
		ref := row.Field(0)
		if !ref.Anonymous {
			t.Fatalf("%s does not begin with its handle", row)
		}
		for i := 1; i < row.NumField(); i++ {
			name := row.Field(i).Name
			_, method := reflect.PointerTo(ref.Type).MethodByName(name)
			_, field := ref.Type.FieldByName(name)
			if method || field {
				t.Errorf("%s.%s hides %s.%s; give its token another field name in fixtures/tokens.json", row.Name(), name, ref.Name, name)
			}
		}
	}
}

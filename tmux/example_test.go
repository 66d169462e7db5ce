package tmux_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// throwaway starts a tmux server for an example: on a socket of its own, with no configuration file
// and one session, "work", that has one pane. The function it returns ends the server.
func throwaway() (*tmux.Server, func()) {
	dir, err := os.MkdirTemp("", "tx")
	if err != nil {
		log.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		log.Fatal(err)
	}
	srv, err := tmux.New(tmux.Config{
		Binary:     os.Getenv("TMUX_TEST_BINARY"),
		SocketPath: filepath.Join(dir, "socket"),
		ConfigFile: "/dev/null",
		Transport:  tmux.Transport(os.Getenv("TMUX_TEST_TRANSPORT")),
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "PS1=$ ", "ENV=", "TERM=screen", "LANG=C.UTF-8",
			"TMUX_TMPDIR=" + dir,
		},
	})
	if err == nil {
		_, err = srv.NewSession(context.Background(), tmux.NewSession{Name: "work", Width: 80, Height: 24})
	}
	if err != nil {
		os.RemoveAll(dir)
		log.Fatal(err)
	}
	return srv, func() {
		if err := srv.Kill(context.Background()); err != nil {
			log.Print(err)
		}
		for range 50 { // a pane's process may still be writing into HOME
			if os.RemoveAll(dir) == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func TestMain(m *testing.M) {
	testtool.Parallel(8)
	// Examples cannot be skipped one by one.
	if path, err := testtmux.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "the examples are not run:", err)
		flag.Set("test.run", "^(Test|Fuzz)")
	} else {
		// Debian's is on no PATH. Last, as other programs may lie beside it.
		os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(path))
	}
	os.Exit(m.Run())
}

// The program that runs in each pane of a tmux server.
func Example() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	type row struct {
		ID      tmux.PaneID `tmux:"pane_id"`
		Session string      `tmux:"session_name"`
		Width   int         `tmux:"pane_width"`
	}
	panes, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range panes {
		fmt.Println(p.ID, p.Session, p.Width)
	}
	// Output: %0 work 80
}

// Split a pane, run a command in the new one, and read what it prints.
func Example_splitAndRun() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{
		Right: true, Size: tmux.Percent(40), Dir: "/", Env: tmux.Env{"GREETING": "it's; \"me\""},
		Command: []string{`echo "$GREETING from $PWD"; exec sleep 60`},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	screen, err := waitForText(ctx, pane.PaneRef, "from")
	fmt.Println(pane.ID, pane.Width, screen, err)
	// Output: %1 32 it's; "me" from / <nil>
}

// Wait for text: poll the screen until it is there. A shell command can signal a [tmux.Channel]
// instead, which needs no polling.
func Example_waitForText() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	pane := srv.Pane("%0")
	if err := pane.SendLine(ctx, "echo result: $((6 * 7))"); err != nil {
		fmt.Println(err)
		return
	}
	// tmux itself looks at the screen, of all panes if need be.
	shows := tmux.ListPanes{Target: pane, Filter: tmux.MatchContent("result: [0-9]+$", tmux.Match{Regexp: true})}
	for {
		found, err := tmux.List[tmux.Pane](ctx, srv, shows)
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(found) > 0 {
			fmt.Println("found in", found[0].ID)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	// Output: found in %0
}

// waitForText waits until a text is on the pane's screen, and returns the line that it is in.
func waitForText(ctx context.Context, pane tmux.PaneRef, text string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		screen, err := pane.Capture(ctx, tmux.CapturePane{})
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(screen)) {
			if strings.Contains(line, text) {
				return strings.TrimSpace(line), nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Type text, press keys and name keys.
func ExamplePaneRef_SendKeys() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"cat"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	pane.SendText(ctx, "C-c is text here; so is Enter") // exactly these characters
	pane.SendKeys(ctx, "Enter")                         // a key by its name
	pane.SendLine(ctx, "$HOME #{pane_id} 'quoted'")     // text, then Enter
	line, err := waitForText(ctx, pane.PaneRef, "#{pane_id}")
	fmt.Println(line, err)

	pane.SendKeys(ctx, "C-c") // ends cat, and with it the pane
	// Output: $HOME #{pane_id} 'quoted' <nil>
}

// Capture the screen, and a part of the history.
func ExamplePaneRef_Capture() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{
		Size: tmux.Cells(4), Command: []string{`for i in 1 2 3 4 5 6 7; do echo line $i; done; printf 'the \033[31mred\033[m end'; exec sleep 60`},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	waitForText(ctx, pane.PaneRef, "end")
	screen, _ := pane.Capture(ctx, tmux.CapturePane{})
	fmt.Printf("%s--\n", screen)
	// The newest line of the history, line -1, up to the first of the screen, line 0.
	lines, _ := pane.Capture(ctx, tmux.CapturePane{Start: -1, End: new(tmux.Line(0))})
	fmt.Printf("%s--\n", lines)
	coloured, _ := pane.Capture(ctx, tmux.CapturePane{Start: 3, Escapes: true})
	fmt.Printf("%q\n", strings.TrimSpace(string(coloured)))
	// Output:
	// line 5
	// line 6
	// line 7
	// the red end
	// --
	// line 4
	// line 5
	// --
	// "the \x1b[31mred\x1b[39m end"
}

// Follow a pane: each look says what is new since the one before.
func ExamplePaneRef_Look() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{`echo before; read x; echo one; echo two; exec sleep 60`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	waitForText(ctx, pane.PaneRef, "before")
	look, err := pane.Look(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pane.SendLine(ctx, "go on")
	waitForText(ctx, pane.PaneRef, "two")
	look, err = pane.Look(ctx, look.Mark())
	if err != nil {
		fmt.Println(err)
		return
	}
	if look.Missed {
		fmt.Println("lines may be missing")
	}
	for _, line := range look.New {
		fmt.Println(line)
	}
	// Output:
	// go on
	// one
	// two
}

// Find the sockets of the user's tmux servers, and what they are called.
func ExampleSocketName() {
	dir := tmux.SocketDir([]string{"TMUX_TMPDIR=/"})
	name, named := tmux.SocketName(filepath.Join(dir, "work"))
	fmt.Println(name, named)
	_, named = tmux.SocketName("/srv/work.sock")
	fmt.Println(named)
	// Output:
	// work true
	// false
}

// Ask which commands a tmux has, and which tokens this package knows.
func ExampleListCommands() {
	srv, done := throwaway()
	defer done()

	type row struct {
		Name string `tmux:"command_list_name"`
	}
	rows, err := tmux.List[row](context.Background(), srv, tmux.ListCommands{Name: "kill-pane"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows[0].Name)
	for _, token := range tmux.Tokens() {
		if token.Name == "pane_id" {
			fmt.Println(token.Name, token.Scope)
		}
	}
	// Output:
	// kill-pane
	// pane_id pane
}

// Kill a window only while it has one pane: nothing happens between the check and the command.
func ExampleRequire() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	srv.NewSession(ctx, tmux.NewSession{Name: "other"})
	for _, panes := range []string{"2", "1"} {
		_, err := srv.Do(ctx,
			tmux.Require{Target: tmux.Named("work"), Condition: tmux.MatchEqual("window_panes", panes)},
			tmux.KillWindow{Target: tmux.Named("work")})
		fmt.Println(errors.Is(err, tmux.ErrUnmet), err == nil)
	}
	// Output:
	// true false
	// false true
}

// Paste text as a terminal does: a program that asks for it, such as an editor, sees that it was
// pasted and not typed.
func ExamplePaneRef_Paste() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"cat"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pane.Paste(ctx, []byte("two\nlines\n"), tmux.PasteOptions{Bracket: true})
	fmt.Println(err)
	line, err := waitForText(ctx, pane.PaneRef, "lines")
	fmt.Println(line, err)
	// Output:
	// <nil>
	// lines <nil>
}

// A row of one's own: any struct, with the tokens that matter. A pointer is nil if there is no
// value or this tmux does not know the token; a user option is a token too.
func ExampleList() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	srv.Pane("%0").Options().Set(ctx, "@note", "the | first\npane")

	type row struct {
		tmux.PaneRef `tmux:"pane_id"` // the row is a handle then
		Title        string           `tmux:"pane_title"`
		Width        int              `tmux:"pane_width"`
		ExitStatus   *int             `tmux:"pane_dead_status"`
		Started      time.Time        `tmux:"session_created"`
		Theme        *string          `tmux:"client_theme"` // since tmux 3.6
		Note         string           `tmux:"@note"`
	}
	rows, err := tmux.List[row](ctx, srv, tmux.DisplayMessage{Target: srv.Pane("%0")})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := rows[0]
	fmt.Printf("%s %d columns, exited: %v, note %q, started %v\n", r.ID, r.Width, r.ExitStatus != nil, r.Note, time.Since(r.Started) < time.Minute)
	fmt.Println(r.SetTitle(ctx, "mine"))
	// Output:
	// %0 80 columns, exited: false, note "the | first\npane", started true
	// <nil>
}

// Several readings and changes in one round trip. When a command fails, the ones after it are not
// run.
func ExampleBatch() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	type window struct {
		Name  string `tmux:"window_name"`
		Panes int    `tmux:"window_panes"`
	}
	pane := srv.Pane("%0")
	var b tmux.Batch
	before := tmux.Rows[window](&b, tmux.ListWindows{All: true})
	tmux.Add(&b, tmux.RenameWindow{Target: pane, Name: "build; test"})
	tmux.Add(&b, tmux.SplitWindow{Target: pane, Detached: true})
	tmux.Add(&b, pane.Options().Setting(tmux.SetOption{Name: "remain-on-exit", Value: new("on")}))
	after := tmux.Rows[window](&b, tmux.ListWindows{All: true})
	where := tmux.Displayed(&b, tmux.DisplayMessage{Target: pane, Message: "#{session_name}:#{window_index}"})
	option := tmux.ReadOption(&b, pane.Options(), "remain-on-exit")
	if err := b.Do(ctx, srv); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println((*before)[0].Panes, *after, *where, (*option)[0].Value)
	// Output: 1 [{build; test 2}] work:0 on
}

// Any tmux commands as one list, with what each of them printed.
func ExampleServer_Do() {
	srv, done := throwaway()
	defer done()

	out, err := srv.Do(context.Background(),
		tmux.NewWindow{Target: tmux.Named("work"), Name: "logs", Detached: true},
		tmux.ListWindows{Target: tmux.Named("work"), Format: "#{window_index}:#{window_panes}"},
		tmux.Raw{Name: "display-message", Args: []string{"-p", "in tmux's own words: #{session_windows}"}},
	)
	fmt.Printf("%q %v\n", out, err)
	// Output: ["" "0:1\n1:1\n" "in tmux's own words: 2\n"] <nil>
}

// Errors have kinds that hold over the wordings of tmux's versions, and name what was not found.
func ExampleError() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	err := srv.Pane("%99").Kill(ctx)
	fmt.Println(errors.Is(err, tmux.ErrNotFound), err)

	var e *tmux.Error
	if errors.As(err, &e) {
		fmt.Println(e.Command, e.Object.Kind, e.Object.Name)
	}
	_, err = srv.NewSession(ctx, tmux.NewSession{Name: "work"})
	fmt.Println(errors.Is(err, tmux.ErrExists))
	// Output:
	// true kill-pane: can't find pane: %99
	// kill-pane pane %99
	// true
}

// What this tmux does not have is refused before tmux is asked.
func ExampleServer_Supports() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	floats, err := srv.Supports(ctx, tmux.FloatingPanes)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = srv.Pane("%0").Float(ctx, tmux.NewPane{Width: tmux.Percent(50)})
	var missing *tmux.UnsupportedError
	fmt.Println(errors.As(err, &missing) == !floats)
	fmt.Println(tmux.FloatingPanes.Since)
	// Output:
	// true
	// 3.7
}

// Options at each scope: a pane inherits from its window, a window from the global options.
func ExampleOptions() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, window := srv.Pane("%0").Options(), srv.Window("@0").Options()
	srv.GlobalWindowOptions().Set(ctx, "remain-on-exit", "on")
	window.Set(ctx, "@project", "tmux; & co")
	srv.Options().Set(ctx, "buffer-limit", "100")
	srv.Session("$0").Options().Append(ctx, "status-left", "!")

	value, err := pane.Get(ctx, "remain-on-exit") // what is in effect
	fmt.Println(value, err)
	_, err = pane.Local(ctx, "remain-on-exit") // what this pane sets itself
	fmt.Println(errors.Is(err, tmux.ErrUnknownOption))
	items, err := pane.Items(ctx, "@project") // with the scope that sets it
	fmt.Println(items[0].Value, items[0].Scope, items[0].Inherited, err)
	fmt.Println(window.Unset(ctx, "@project"))
	fmt.Println(pane.Set(ctx, "buffer-limit", "5"))
	// Output:
	// on <nil>
	// true
	// tmux; & co window true <nil>
	// <nil>
	// set-option: invalid argument: buffer-limit is a server option, not a pane option
}

// An array option has items.
func ExampleOptions_SetItems() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session := srv.Session("$0").Options()
	session.SetItems(ctx, "update-environment", []string{"DISPLAY", "SSH_AUTH_SOCK"})
	session.Append(ctx, "update-environment", "LANG")
	session.Unset(ctx, "update-environment[0]")
	own, _ := session.AllLocal(ctx) // everything that the session sets itself
	fmt.Println(slices.ContainsFunc(own, func(o tmux.Option) bool { return o.Name == "update-environment" }))
	items, err := session.Items(ctx, "update-environment")
	for _, item := range items {
		fmt.Println(item.Index, item.Value)
	}
	fmt.Println(err)
	// Output:
	// true
	// 1 SSH_AUTH_SOCK
	// 2 LANG
	// <nil>
}

// A hook runs tmux commands when something happens. Script quotes them.
func ExampleHooks() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	script, err := srv.Script(ctx, tmux.SetOption{Global: true, Name: "@last", Expand: true, Value: new("made #{window_name}")})
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.Hooks().Set(ctx, "after-new-window", script)
	srv.Session("$0").NewWindow(ctx, tmux.NewWindow{Name: "logs"})
	value, err := srv.GlobalSessionOptions().Get(ctx, "@last")
	fmt.Println(value, err)

	lists, err := srv.Hooks().Get(ctx, "after-new-window")
	fmt.Println(len(lists), lists[0].Index, err)
	// Output:
	// made logs <nil>
	// 1 0 <nil>
}

// Filters let tmux do the searching, in one round trip over all panes. Plain text needs no quoting.
func ExampleMatchToken() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session := srv.Session("$0")
	session.NewWindow(ctx, tmux.NewWindow{Name: "a, #{b} [c]", Command: []string{"sleep 60"}})
	session.NewWindow(ctx, tmux.NewWindow{Name: "build-1", Detached: true})
	session.NewWindow(ctx, tmux.NewWindow{Name: "build-2"})
	for _, filter := range []tmux.Format{
		tmux.MatchEqual("window_name", "a, #{b} [c]"),
		tmux.MatchToken("window_name", "BUILD-*", tmux.Match{Glob: true, IgnoreCase: true}),
		tmux.And(tmux.MatchToken("window_name", "^build", tmux.Match{Regexp: true}), tmux.Not("#{window_active}")),
		tmux.Or(tmux.MatchOneOf("window_index", 0, 3), "#{pane_dead}"),
	} {
		panes, err := tmux.List[tmux.Pane](ctx, srv, tmux.ListPanes{All: true, Filter: filter})
		for _, p := range panes {
			fmt.Print(p.ID, " ")
		}
		fmt.Println(err)
	}
	// Output:
	// %1 <nil>
	// %2 %3 <nil>
	// %2 <nil>
	// %0 %3 <nil>
}

// Display expands a format for one object.
func ExamplePaneRef_Display() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	text, err := srv.Pane("%0").Display(ctx, "#{session_name}:#{window_index}.#{pane_index} is #{?pane_dead,dead,alive}; "+tmux.Literal("#{kept}"))
	fmt.Println(text, err)
	// Output: work:0.0 is alive; #{kept} <nil>
}

// Variables of the environment that new panes get.
func ExampleEnvironment() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session := srv.Session("$0")
	session.Environment().Set(ctx, "STAGE", "test")
	session.Environment().SetHidden(ctx, "TICKET", "7") // for formats, not for panes
	session.Environment().Remove(ctx, "TERM_PROGRAM")   // whatever the global environment says
	v, err := session.Environment().Get(ctx, "STAGE")
	fmt.Println(v.Value, err)
	_, err = srv.Environment().Get(ctx, "STAGE") // the global environment has its own
	fmt.Println(errors.Is(err, tmux.ErrNotFound))

	w, _ := session.NewWindow(ctx, tmux.NewWindow{Command: []string{"echo stage: $STAGE; exec sleep 60"}})
	pane, _ := w.ActivePane(ctx)
	line, err := waitForText(ctx, pane.PaneRef, "stage:")
	fmt.Println(line, err)
	// Output:
	// test <nil>
	// true
	// stage: test <nil>
}

// Paste buffers hold any bytes.
func ExampleServer_SetBuffer() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	b, err := srv.SetBuffer(ctx, "notes", []byte("one\n\x00\xff"))
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Append(ctx, "two")
	data, err := b.Bytes(ctx)
	fmt.Printf("%q %v\n", data, err)

	if b, err = b.Rename(ctx, "old notes"); err != nil {
		fmt.Println(err)
		return
	}
	buffers, err := srv.Buffers(ctx, "")
	fmt.Println(len(buffers), buffers[0].Name, buffers[0].Size, err)
	fmt.Println(b.Delete(ctx))
	// Output:
	// "one\n\x00\xfftwo" <nil>
	// 1 old notes 9 <nil>
	// <nil>
}

// A program in a pane reports that it is done by signalling a channel. A signal is not lost even if
// it comes before the wait.
func ExampleChannel() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	signal := tmux.ShellQuote(srv.Binary()) + " wait-for -S build-done"
	if err := srv.Pane("%0").SendLine(ctx, "echo building; "+signal); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.Channel("build-done").Wait(ctx))

	lock := srv.Channel("deploy")
	fmt.Println(lock.Lock(ctx), lock.Unlock(ctx))
	// Output:
	// <nil>
	// <nil> <nil>
}

// Run a shell command on the machine of the tmux server, and get its output and exit status.
func ExampleServer_RunShell() {
	srv, done := throwaway()
	defer done()

	r, err := srv.RunShell(context.Background(), "echo hello; exit 3", tmux.ShellOptions{})
	if errors.Is(err, tmux.ErrUnsupported) { // tmux 3.3 and 3.4 only show the output to the user
		r, err = tmux.ShellResult{Output: []byte("hello\n"), ExitCode: 3}, nil
	}
	fmt.Printf("%q %d %v\n", r.Output, r.ExitCode, err)
	// Output: "hello\n" 3 <nil>
}

// A second server, on a socket of its own with a configuration of its own. Nothing of the user's
// server is touched.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "tx")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	srv, err := tmux.New(tmux.Config{
		Binary:     os.Getenv("TMUX_TEST_BINARY"), // "tmux" on PATH if empty
		SocketPath: filepath.Join(dir, "socket"),
		ConfigFile: "/dev/null",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = srv.Sessions(ctx)
	fmt.Println(errors.Is(err, tmux.ErrNoServer)) // New starts nothing
	s, err := srv.NewSession(ctx, tmux.NewSession{Name: "second", Command: []string{"sleep", "60"}})
	fmt.Println(s.Name, s.ID, err)
	fmt.Println(srv.Kill(ctx))
	// Output:
	// true
	// second $0 <nil>
	// <nil>
}

// Both transports give the same answers. Native needs no process for a call; auto, the default,
// uses it where the server speaks the protocol as expected.
func ExampleTransport() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	for _, transport := range []tmux.Transport{tmux.TransportExec, tmux.TransportNative} {
		same, err := tmux.New(tmux.Config{Binary: srv.Binary(), SocketPath: srv.SocketPath(), Transport: transport})
		if err != nil {
			fmt.Println(err)
			return
		}
		sessions, err := same.Sessions(ctx)
		fmt.Println(transport, sessions[0].Name, err)
	}
	// Output:
	// exec work <nil>
	// native work <nil>
}

// Arrange the panes of a window, and read a layout.
func ExampleWindowRef_SelectLayout() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	window := srv.Window("@0")
	for range 2 {
		srv.Pane("%0").Split(ctx, tmux.SplitWindow{Detached: true})
	}
	w, err := window.SelectLayout(ctx, tmux.EvenHorizontal)
	if err != nil {
		fmt.Println(err)
		return
	}
	root, err := tmux.ParseLayout(tmux.Layout(w.Layout))
	fmt.Println(root.Panes(), string(root.Kind), root.Cells[0].Width, err)

	panes, err := window.Rotate(ctx, tmux.RotateWindow{Down: true})
	fmt.Println(panes[0].ID != "%0", err)
	// Output:
	// 3 h 26 <nil>
	// true <nil>
}

// Copy mode is driven by its commands.
func ExamplePaneRef_CopyMode() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"echo find the needle here; exec sleep 60"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	waitForText(ctx, pane.PaneRef, "needle")
	pane.CopyMode(ctx)
	pane.CopyCommand(ctx, "search-backward", "needle")
	pane.CopyCommand(ctx, "begin-selection")
	pane.CopyCommand(ctx, "next-word-end")
	pane.CopyCommand(ctx, "copy-selection")
	pane.ExitMode(ctx)
	buffers, err := srv.Buffers(ctx, "")
	if err != nil || len(buffers) == 0 {
		fmt.Println("nothing copied:", err)
		return
	}
	data, err := buffers[0].Bytes(ctx)
	fmt.Println(strings.HasPrefix("needle", string(data)), err)
	fmt.Println(errors.Is(pane.CopyCommand(ctx, "cancel"), tmux.ErrNotInMode))
	// Output:
	// true <nil>
	// true
}

// Bind a key to commands. Script quotes them.
func ExampleServer_Bind() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	script, err := srv.Script(ctx, tmux.SplitWindow{Right: true}, tmux.DisplayMessage{Message: "it's split"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.Bind(ctx, tmux.BindKey{Table: "mine", Key: "C-s", Note: "Split", Command: []string{script}}))
	bindings, err := srv.KeyBindings(ctx, "mine")
	fmt.Println(len(bindings), bindings[0].Key, err)
	fmt.Println(srv.Unbind(ctx, "mine", "C-s"))
	// Output:
	// <nil>
	// 1 C-s <nil>
	// <nil>
}

// Keep a log of what a pane prints.
func ExamplePaneRef_PipeToFile() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "tx")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	file := filepath.Join(dir, "it's a log")
	pane := srv.Pane("%0")
	if err := pane.PipeToFile(ctx, file); err != nil {
		fmt.Println(err)
		return
	}
	pane.SendLine(ctx, "echo logged: $((1+1))")
	for range 500 {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), "logged: 2") {
			fmt.Println("logged")
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println(pane.ClosePipe(ctx))
	// Output:
	// logged
	// <nil>
}

// A session by its name, and its windows.
func ExampleSessionRef() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	work, err := srv.SessionNamed(ctx, "work") // exactly this name
	if err != nil {
		fmt.Println(err)
		return
	}
	work.NewWindow(ctx, tmux.NewWindow{Name: "logs", Target: work.At(7)})
	work.RenumberWindows(ctx)
	w, err := work.ActiveWindow(ctx)
	fmt.Println(w.Name, w.Index, err)
	w, err = work.NextWindow(ctx)
	fmt.Println(w.Index, err)

	other, err := srv.NewSession(ctx, tmux.NewSession{Name: "other"})
	fmt.Println(other.KillOthers(ctx), err)
	has, err := srv.HasSession(ctx, tmux.Named("work"))
	fmt.Println(has, err)
	// Output:
	// logs 1 <nil>
	// 0 <nil>
	// <nil> <nil>
	// false <nil>
}

// Move a window about, and show it in two sessions.
func ExampleWindowRef() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	work := srv.Session("$0")
	window, err := work.NewWindow(ctx, tmux.NewWindow{Detached: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	window.Rename(ctx, "shared")
	moved, err := window.Move(ctx, tmux.MoveWindow{Target: work.At(5), Detached: true})
	fmt.Println(moved.Index, err)
	resized, err := window.Resize(ctx, tmux.ResizeWindow{Width: 60, Height: 20})
	fmt.Println(resized.Width, resized.Height, err)

	xtra, _ := srv.NewSession(ctx, tmux.NewSession{Name: "xtra"})
	places, err := window.Link(ctx, tmux.LinkWindow{Target: xtra.At(9)})
	for _, p := range places {
		fmt.Println(p.SessionID, p.Index, p.Active)
	}
	fmt.Println(err, window.Unlink(ctx, xtra.ID))
	fmt.Println(window.Select(ctx), window.KillOthers(ctx))
	// Output:
	// 5 <nil>
	// 60 20 <nil>
	// $0 5 false
	// $1 9 true
	// <nil> <nil>
	// <nil> <nil>
}

// What can be done with a pane.
func ExamplePaneRef() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	top := srv.Pane("%0")
	below, err := top.Split(ctx, tmux.SplitWindow{})
	if err != nil {
		fmt.Println(err)
		return
	}
	below.SetTitle(ctx, "tests: 5%")
	below.SetStyle(ctx, "bg=colour52")
	p, err := below.Resize(ctx, tmux.ResizePane{Height: tmux.Cells(5)})
	fmt.Println(p.Height, p.Title, err)

	// Both are no-ops if it is so already.
	fmt.Println(top.Zoom(ctx), top.Unzoom(ctx))
	fmt.Println(top.Select(ctx, tmux.SelectPane{Down: true})) // the one below
	p, err = below.Info(ctx)
	fmt.Println(p.Active, err)

	_, err = below.Respawn(ctx, tmux.RespawnPane{})
	fmt.Println(errors.Is(err, tmux.ErrRunning))
	p, err = below.Respawn(ctx, tmux.RespawnPane{Kill: true, Command: []string{"sleep", "60"}})
	fmt.Println(p.ID, err)
	w, err := below.Break(ctx, tmux.BreakPane{Name: "alone"}) // into a window of its own
	fmt.Println(w.Name, w.PaneCount, err)
	// Output:
	// 5 tests: 5% <nil>
	// <nil> <nil>
	// <nil>
	// true <nil>
	// true
	// %1 <nil>
	// alone 1 <nil>
}

// Undo and even out layouts; keep one pane only.
func ExamplePaneRef_SpreadPanes() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane := srv.Pane("%0")
	pane.Split(ctx, tmux.SplitWindow{Size: tmux.Cells(3)})
	before, _ := pane.Info(ctx)
	window, err := pane.SpreadPanes(ctx)
	after, _ := pane.Info(ctx)
	fmt.Println(after.Height < before.Height, err)
	_, err = window.UndoLayout(ctx)
	p, _ := pane.Info(ctx)
	fmt.Println(p.Height == before.Height, err)
	fmt.Println(pane.KillOthers(ctx))
	// Output:
	// true <nil>
	// true <nil>
	// <nil>
}

// Attached clients: here one that is attached in a pane of another server.
func ExampleClientRef() {
	srv, done := throwaway()
	defer done()
	host, hostDone := throwaway()
	defer hostDone()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	attach := []string{"env", "-u", "TMUX", srv.Binary(), "-S", srv.SocketPath(), "attach-session"}
	if _, err := host.Pane("%0").Respawn(ctx, tmux.RespawnPane{Kill: true, Command: attach}); err != nil {
		fmt.Println(err)
		return
	}
	var clients []tmux.Client
	for len(clients) == 0 && ctx.Err() == nil {
		clients, _ = srv.Clients(ctx)
	}
	client := clients[0]
	fmt.Println(client.Width, client.Session)

	other, _ := srv.NewSession(ctx, tmux.NewSession{Name: "other"})
	fmt.Println(client.Switch(ctx, other))
	fmt.Println(client.Display(ctx, "#{session_name}"))
	fmt.Println(client.Detach(ctx), other.DetachClients(ctx))
	// Output:
	// 80 work
	// <nil>
	// other <nil>
	// <nil> <nil>
}

// A menu on a key.
func ExampleDisplayMenu() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	script, err := srv.Script(ctx, tmux.DisplayMenu{Title: "Panes"}.With(
		tmux.MenuItem{Name: "Zoom", Key: "z", Command: "resize-pane -Z"},
		tmux.MenuItem{}, // a line
		tmux.MenuItem{Name: "Kill #{pane_id}", Key: "x", Command: "kill-pane"},
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.Bind(ctx, tmux.BindKey{Root: true, Key: "F1", Command: []string{script}}))
	// Output: <nil>
}

// Check a format that somebody else wrote: it may read, and run nothing.
func ExampleInert() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	v, err := srv.Version(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	format, err := tmux.Inert("#{pane_id} #{?pane_dead,dead,alive}", v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.Pane("%0").Display(ctx, format))
	_, err = tmux.Inert("#(rm -rf /tmp/x)", v)
	fmt.Println(err != nil)
	// Output:
	// %0 alive <nil>
	// true
}

// Run a configuration file's commands, and read the server's log.
func ExampleServer_Source() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	out, err := srv.Source(ctx, []byte(`
		set -g status off   # a comment
		display-message -p "status is #{status}"
	`))
	fmt.Printf("%s%v\n", out, err)
	log, err := srv.Messages(ctx)
	logged := strings.Contains(strings.Join(log, "\n"), "status off")
	fmt.Println(logged || errors.Is(err, tmux.ErrNoClient)) // before tmux 3.6 only with a client attached
	// Output:
	// status is off
	// <nil>
	// true
}

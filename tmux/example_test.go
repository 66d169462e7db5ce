package tmux_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// throwaway starts a tmux server for an example, on its own socket, with no configuration
// file and one session, "work", that has one pane. The returned function ends the server.
func throwaway() (*tmux.Server, func()) { return testserver.Throwaway() }

// children are what the program of the tests does if $TMUX_TEST_CHILD names it, as in a pane.
var children = map[string]func(){}

func TestMain(m *testing.M) {
	if child := children[os.Getenv("TMUX_TEST_CHILD")]; child != nil {
		child()
		os.Exit(0)
	}
	os.Exit(testserver.Main(m))
}

// List the program that runs in each pane of a tmux server.
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

// Split a pane, run a command in the new one, and read its output.
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
	_, line, err := follow.WaitFor(ctx, pane.PaneRef, "from /")
	fmt.Println(pane.ID, pane.Width, line, err)
	// Output: %1 32 it's; "me" from / <nil>
}

// Type text, press keys by name, and enter a line.
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
	_, line, err := follow.WaitFor(ctx, pane.PaneRef, "'quoted'")
	fmt.Println(line, err)

	pane.SendKeys(ctx, "C-c") // ends cat, and with it the pane
	// Output: $HOME #{pane_id} 'quoted' <nil>
}

// Kill a window only if it has one pane: nothing can happen between the check and the
// command.
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

// Define your own row: any struct with the tokens that matter. A pointer is nil if there is
// no value or this tmux does not know the token; a user option is a token too.
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

// List everything on a server: each pane, with the names of its session and window, which a
// [tmux.Pane] does not have.
func ExampleList_everything() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	if _, err := srv.Do(ctx,
		tmux.RenameWindow{Target: srv.Window("@0"), Name: "shell"},
		tmux.NewSession{Name: "docs", WindowName: "edit"},
		tmux.SplitWindow{Target: tmux.Named("docs")},
	); err != nil {
		log.Fatal(err)
	}

	type row struct {
		tmux.PaneRef `tmux:"pane_id"` // the row is a handle then
		Session      string           `tmux:"session_name"`
		Window       int              `tmux:"window_index"`
		Name         string           `tmux:"window_name"`
		Pane         int              `tmux:"pane_index"`
		Active       bool             `tmux:"pane_active"`
	}
	panes, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range panes {
		fmt.Printf("%s:%d.%d is %s in window %s, active: %t\n", p.Session, p.Window, p.Pane, p.ID, p.Name, p.Active)
	}
	// Output:
	// docs:0.0 is %1 in window edit, active: false
	// docs:0.1 is %2 in window edit, active: true
	// work:0.0 is %0 in window shell, active: true
}

// Make several queries and changes in one round trip. If a command fails, those after it
// are not run.
func ExampleBatch() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	type window struct {
		Name  string `tmux:"window_name"`
		Panes int    `tmux:"window_panes"`
	}
	pane := srv.Pane("%0")
	on := "on"
	var b tmux.Batch
	before := tmux.AddRows[window](&b, tmux.ListWindows{All: true})
	tmux.Add(&b, tmux.RenameWindow{Target: pane, Name: "build; test"})
	tmux.Add(&b, tmux.SplitWindow{Target: pane, Detached: true})
	tmux.Add(&b, pane.Options().Setting(tmux.SetOption{Name: "remain-on-exit", Value: &on}))
	after := tmux.AddRows[window](&b, tmux.ListWindows{All: true})
	where := tmux.AddMessage(&b, tmux.DisplayMessage{Target: pane, Message: "#{session_name}:#{window_index}"})
	option := tmux.AddOption(&b, pane.Options(), "remain-on-exit")
	if err := b.Do(ctx, srv); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println((*before)[0].Panes, *after, *where, (*option)[0].Value)
	// Output: 1 [{build; test 2}] work:0 on
}

// Errors have kinds that are the same on all versions of tmux, and name what was not found.
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

// Read and set options at each scope: a pane inherits from its window, a window from the
// global options.
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

// Find the sockets of the user's tmux servers, and their names.
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

// Find the server that this program runs in. Config gives the rest, here an environment: by
// default, it is that of this process.
func ExampleFromEnv() {
	srv, done := throwaway()
	defer done()

	inPane := []string{"TMUX=" + srv.SocketPath() + ",4711,0"} // as tmux sets it
	inside, err := tmux.FromEnv(tmux.Config{Binary: srv.Binary(), Env: inPane})
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions, err := inside.Sessions(context.Background())
	fmt.Println(sessions[0].Name, err)

	_, err = tmux.FromEnv(tmux.Config{Env: []string{"TERM=xterm"}})
	fmt.Println(errors.Is(err, tmux.ErrOutside), err)
	// Output:
	// work <nil>
	// true not inside tmux: TMUX is not set in the environment
}

// Split the pane that this program runs in. The example itself runs in none.
func ExampleServer_CurrentPane() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.CurrentPane(ctx)
	switch {
	case errors.Is(err, tmux.ErrOutside):
		fmt.Println("run this in tmux")
	case err != nil:
		fmt.Println(err)
	default:
		pane.Split(ctx, tmux.SplitWindow{Right: true, Command: []string{"htop"}})
	}
	// Output: run this in tmux
}

// Choose a session and attach the terminal to it. In a pane of the same server, the client
// switches.
func ExampleSessionRef_Attach() {
	ctx := context.Background()
	srv, err := tmux.New(tmux.Config{})
	if err != nil {
		log.Fatal(err)
	}
	sessions, err := srv.Sessions(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for i, s := range sessions {
		fmt.Printf("%d) %s, %d windows\n", i, s.Name, s.WindowCount)
	}
	var n int
	if _, err := fmt.Scan(&n); err != nil || n < 0 || n >= len(sessions) {
		log.Fatal("no such session")
	}
	if err := sessions[n].Attach(ctx, tmux.AttachSession{DetachOthers: true}); err != nil {
		log.Fatal(err)
	}
}

// Send a stream to the program in a pane, no faster than it reads.
func ExamplePaneRef_Writer() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"stty -echo; sort -n; exec sleep 60"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := bufio.NewWriter(pane.Writer(ctx)) // few big writes take less time than many small ones
	for n := 3000; n > 0; n-- {
		fmt.Fprintln(w, n)
	}
	if err := w.Flush(); err != nil {
		fmt.Println(err)
		return
	}
	pane.SendKeys(ctx, "C-d") // the end of sort's input
	_, line, err := follow.WaitFor(ctx, pane.PaneRef, "3000")
	fmt.Println(line, err)
	// Output: 3000 <nil>
}

// Write the whole history of a pane, and its screen, to a file or another writer.
func ExamplePaneRef_CaptureTo() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"echo one; echo two; exec sleep 60"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	follow.WaitFor(ctx, pane.PaneRef, "two")
	var file strings.Builder
	err = pane.CaptureTo(ctx, &file, tmux.CapturePane{Start: tmux.LineEdge})
	fmt.Println(strings.Fields(file.String()), err)
	// Output: [one two] <nil>
}

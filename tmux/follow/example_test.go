package follow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// throwaway starts a tmux server for an example, on its own socket, with no configuration
// file and one session, "work", that has one pane. The returned function ends the server.
func throwaway() (*tmux.Server, func()) { return testserver.Throwaway() }

// Follow several panes until each has ended.
func ExamplePanes() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	srv.GlobalWindowOptions().Set(ctx, "remain-on-exit", "on") // so that the last lines can be read
	for _, prints := range []string{"FAIL: parse", "ok"} {
		pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"stty -echo; echo ready; read x; echo " + prints + "; sleep 1"}})
		if err != nil {
			log.Fatal(err)
		}
		follow.WaitFor(ctx, pane.PaneRef, "ready")
	}

	for event, err := range follow.Panes(ctx, srv, "%1", "%2") {
		switch {
		case err != nil:
			log.Fatal(err)
		case event.Kind == follow.EventBegan: // what is printed from now on is seen
			srv.Pane(event.Pane).SendKeys(ctx, "Enter")
		case event.Kind == follow.EventLines:
			fmt.Println(event.Pane, event.Lines)
		case event.Kind == follow.EventEnded:
			fmt.Println(event.Pane, event.Ended.How)
		}
	}
	// Unordered output:
	// %1 [FAIL: parse]
	// %1 program exited
	// %2 [ok]
	// %2 program exited
}

// Find out which of ten panes prints FAIL.
func ExamplePanes_watcher() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	panes := []tmux.PaneID{"%0"}
	for i := range 9 {
		srv.Session("$0").NewWindow(ctx, tmux.NewWindow{Command: []string{"exec cat"}})
		panes = append(panes, tmux.PaneID(fmt.Sprint("%", i+1)))
	}

	for event, err := range follow.Panes(ctx, srv, panes...) {
		if err != nil {
			log.Fatal(err)
		}
		for _, line := range event.Lines {
			if strings.HasPrefix(line, "FAIL") {
				fmt.Println(event.Pane, line)
				return
			}
		}
		if event.Kind == follow.EventBegan && event.Pane == "%9" {
			srv.Pane("%7").SendLine(ctx, "FAIL: TestParse")
		}
	}
	// Output: %7 FAIL: TestParse
}

// Wait for what a command prints. What was typed shows on the screen too, but not at the
// beginning of its line.
func ExampleWaitFor() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	pane := srv.Pane("%0")
	follow.WaitFor(ctx, pane, "$ ", "# ") // the shell's prompt
	pane.SendLine(ctx, `printf 'listening on %d\n' 8080`)
	text, line, err := follow.WaitFor(ctx, pane, "listening on 8", "cannot listen")
	fmt.Printf("%q in %q, %v\n", text, line, err)

	look, err := follow.LookAt(ctx, srv, pane, nil)
	if err != nil {
		log.Fatal(err)
	}
	pane.SendLine(ctx, "exit 1")
	_, _, err = follow.WaitForNew(ctx, pane, look.Mark(), "listening")
	fmt.Println(errors.Is(err, follow.ErrEnded))
	// Output:
	// "listening on 8" in "listening on 8080", <nil>
	// true
}

// Look at a pane: each look reports what is new since the one before.
func ExampleLookAt() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{`echo before; read x; echo one; echo two; exec sleep 60`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	follow.WaitFor(ctx, pane.PaneRef, "before")
	look, err := follow.LookAt(ctx, srv, pane, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pane.SendLine(ctx, "go on")
	follow.WaitFor(ctx, pane.PaneRef, "two")
	look, err = follow.LookAt(ctx, srv, pane, look.Mark())
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

package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Split a pane: by default below it and in half, or as the options say.
func ExamplePaneRef_Split() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	below, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{})
	if err != nil {
		log.Fatal(err)
	}
	left, err := below.Split(ctx, tmux.SplitWindow{
		Right: true, Before: true, Size: tmux.Cells(30),
		Dir: "/", Command: []string{"tail", "-f", "/dev/null"}, // a program and its arguments
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %dx%d, %s %dx%d\n", below.ID, below.Width, below.Height, left.ID, left.Width, left.Height)
	fmt.Println(left.Kill(ctx))
	// Output:
	// %1 80x11, %2 30x11
	// <nil>
}

// Read the whole history of a pane, and a part of its screen.
func ExamplePaneRef_Capture() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"seq 100; echo end; exec sleep 60"}})
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := follow.WaitFor(ctx, pane.PaneRef, "end"); err != nil {
		log.Fatal(err)
	}

	all, err := pane.Capture(ctx, tmux.CapturePane{Start: tmux.LineEdge})
	if err != nil {
		log.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(all), []byte("\n"))
	fmt.Printf("%d lines, from %s to %s\n", len(lines), lines[0], lines[len(lines)-1])
	last := tmux.Line(-1) // the newest of the history; 0 is the first of the screen
	two, err := pane.Capture(ctx, tmux.CapturePane{Start: -2, End: &last})
	fmt.Printf("%q %v\n", two, err)
	// Output:
	// 101 lines, from 1 to end
	// "90\n91\n" <nil>
}

// Append what a pane prints to a file. Another pane shows the file as it grows.
func ExamplePaneRef_PipeToFile() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	file, err := os.CreateTemp("", "pane*.log")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"cat"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := pane.PipeToFile(ctx, file.Name()); err != nil {
		log.Fatal(err)
	}
	tail, err := pane.Split(ctx, tmux.SplitWindow{Command: []string{"tail", "-f", file.Name()}})
	if err != nil {
		log.Fatal(err)
	}
	pane.SendLine(ctx, "for the log")
	_, line, err := follow.WaitFor(ctx, tail.PaneRef, "log")
	fmt.Println(line, err)
	fmt.Println(pane.ClosePipe(ctx))
	// Output:
	// for the log <nil>
	// <nil>
}

// Search a pane in copy mode, and copy the rest of the line into a new paste buffer.
func ExamplePaneRef_CopyCommand() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"echo error: disk full; echo end; exec sleep 60"}})
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := follow.WaitFor(ctx, pane.PaneRef, "end"); err != nil {
		log.Fatal(err)
	}

	if err := pane.CopyMode(ctx); err != nil {
		log.Fatal(err)
	}
	for _, command := range [][]string{{"search-backward", "disk"}, {"copy-end-of-line"}} {
		if err := pane.CopyCommand(ctx, command[0], command[1:]...); err != nil {
			log.Fatal(err)
		}
	}
	buffers, err := srv.Buffers(ctx, "")
	fmt.Println(buffers[0].Sample, err)
	fmt.Println(pane.ExitMode(ctx))
	// Output:
	// disk full <nil>
	// <nil>
}

// Start the program of a pane anew, in the same pane.
func ExamplePaneRef_Respawn() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	pane := srv.Pane("%0")
	_, err := pane.Respawn(ctx, tmux.RespawnPane{Command: []string{"echo again; exec sleep 60"}})
	fmt.Println(errors.Is(err, tmux.ErrRunning))
	_, err = pane.Respawn(ctx, tmux.RespawnPane{Kill: true, Command: []string{"echo again; exec sleep 60"}})
	if err != nil {
		log.Fatal(err)
	}
	_, line, err := follow.WaitFor(ctx, pane, "again")
	fmt.Println(line, err)
	// Output:
	// true
	// again <nil>
}

// Paste lines into a program, as a terminal does.
func ExamplePaneRef_Paste() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"nl -s ') '"}})
	if err != nil {
		log.Fatal(err)
	}

	err = pane.Paste(ctx, []byte("one\ntwo\n"), tmux.PasteOptions{Bracket: true, Returns: true})
	if err != nil {
		log.Fatal(err)
	}
	_, line, err := follow.WaitFor(ctx, pane.PaneRef, "2) two")
	fmt.Println(strings.TrimSpace(line), err)
	// Output: 2) two <nil>
}

// Expand a format for a pane: a value that no method returns.
func ExamplePaneRef_Display() {
	srv, done := throwaway()
	defer done()

	text, err := srv.Pane("%0").Display(context.Background(), "#{session_name}:#{window_index}, #{?pane_active,active,not active}")
	fmt.Println(text, err)
	// Output: work:0, active <nil>
}

// Capture several panes in one round trip: here two as one text, and one by itself.
func ExampleServer_CaptureAll() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, text := range []string{"one", "two", "three"} {
		pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Size: tmux.Cells(2), Command: []string{"echo " + text + "; exec sleep 60"}})
		if err != nil {
			log.Fatal(err)
		}
		if _, _, err := follow.WaitFor(ctx, pane.PaneRef, text); err != nil {
			log.Fatal(err)
		}
	}

	texts, err := srv.CaptureAll(ctx, [][]tmux.CapturePane{
		{{Target: tmux.PaneID("%1")}, {Target: tmux.PaneID("%2")}},
		{{Target: tmux.PaneID("%3")}},
	})
	fmt.Printf("%q %v\n", texts, err)
	// Output: ["one\n\ntwo\n\n" "three\n\n"] <nil>
}

// Find the panes whose screens show a text. tmux searches, so that screens need not be read.
func ExampleMatchContent() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"echo 2 tests FAILED; exec sleep 60"}})
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := follow.WaitFor(ctx, pane.PaneRef, "FAILED"); err != nil {
		log.Fatal(err)
	}

	panes, err := tmux.List[tmux.Pane](ctx, srv, tmux.ListPanes{All: true, Filter: tmux.And(
		tmux.MatchContent("tests? failed", tmux.MatchOptions{Regexp: true, IgnoreCase: true}),
		tmux.MatchEqual("session_name", "work"),
	)})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range panes {
		fmt.Println(p.ID)
	}
	// Output: %1
}

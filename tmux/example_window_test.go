package tmux_test

import (
	"context"
	"fmt"
	"log"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
)

// Create a window at an index of its own, and move it to another.
func ExampleSessionRef_NewWindow() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session := srv.Session("$0")
	window, err := session.NewWindow(ctx, tmux.NewWindow{Target: session.At(7), Name: "logs", Dir: "/"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(window.ID, window.Index, window.Name, window.Active)
	window, err = window.Move(ctx, tmux.MoveWindow{Target: session.At(3)})
	fmt.Println(window.ID, window.Index, err)
	fmt.Println(window.Kill(ctx))
	// Output:
	// @1 7 logs true
	// @1 3 <nil>
	// <nil>
}

// Create a window with three panes, each with a command, in one round trip. Its index is chosen
// here, so that the other commands can name it; the row of the session has the last one in use.
func ExampleBatch_window() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	session, err := srv.SessionNamed(ctx, "work")
	if err != nil {
		log.Fatal(err)
	}

	at := session.At(session.LastWindowIndex + 1)
	var b tmux.Batch
	made := tmux.AddRows[tmux.Window](&b, tmux.NewWindow{Target: at, Name: "dev", Dir: "/", Command: []string{"cat"}})
	for _, command := range []string{"exec sleep 1000", "exec tail -f /dev/null"} {
		tmux.Add(&b, tmux.SplitWindow{Target: at, Dir: "/", Command: []string{command}})
		tmux.Add(&b, tmux.SelectLayout{Target: at, Layout: layout.Tiled}) // makes room for the next
	}
	tmux.Add(&b, tmux.SelectLayout{Target: at, Layout: layout.MainVertical})
	panes := tmux.AddRows[tmux.Pane](&b, tmux.ListPanes{Target: at})
	if err := b.Do(ctx, srv); err != nil {
		log.Fatal(err)
	}
	fmt.Println((*made)[0].ID, (*made)[0].Index, (*made)[0].Name)
	for _, p := range *panes {
		fmt.Println(p.ID, p.Index, p.Left > 0)
	}
	// Output:
	// @1 1 dev
	// %1 0 false
	// %2 1 true
	// %3 2 true
}

// Arrange the panes of a window, and go back to the arrangement that it had.
func ExampleWindowRef_SelectLayout() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	if _, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Size: tmux.Cells(5)}); err != nil {
		log.Fatal(err)
	}

	window, err := srv.Window("@0").Info(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, to := range []layout.Layout{layout.EvenHorizontal, window.Layout} {
		arranged, err := window.SelectLayout(ctx, to)
		if err != nil {
			log.Fatal(err)
		}
		cell, err := layout.Parse(arranged.Layout)
		fmt.Printf("%c %v\n", cell.Kind, err)
	}
	// Output:
	// h <nil>
	// v <nil>
}

// Zoom a pane, so that it fills its window, and show the others again.
func ExamplePaneRef_Zoom() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Right: true})
	if err != nil {
		log.Fatal(err)
	}

	if err := pane.Zoom(ctx); err != nil {
		log.Fatal(err)
	}
	window, err := srv.Window(pane.WindowID).Info(ctx)
	fmt.Println(window.Zoomed, err)
	if err := window.Unzoom(ctx); err != nil {
		log.Fatal(err)
	}
	pane, err = pane.Resize(ctx, tmux.ResizePane{Width: tmux.Cells(20)})
	fmt.Println(pane.Width, err)
	// Output:
	// true <nil>
	// 20 <nil>
}

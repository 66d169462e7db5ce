package layout_test

import (
	"fmt"
	"log"
	"os"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux/layout"
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// Take a layout apart: two panes side by side.
func ExampleParse() {
	cell, err := layout.Parse("8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1}")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%c, %d panes\n", cell.Kind, cell.Panes())
	for _, c := range cell.Cells {
		fmt.Printf("%%%d: %dx%d at column %d\n", c.Pane, c.Width, c.Height, c.X)
	}
	// Output:
	// h, 2 panes
	// %0: 40x24 at column 0
	// %1: 39x24 at column 41
}

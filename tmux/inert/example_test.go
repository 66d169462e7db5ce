package inert_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux/inert"
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// Make a format that somebody else wrote safe: it may read, but runs nothing.
func ExampleFormat() {
	srv, done := testserver.Throwaway()
	defer done()
	ctx := context.Background()

	v, err := srv.Version(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	format, err := inert.Format("#{pane_id} #{?pane_dead,dead,alive}", v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.Pane("%0").Display(ctx, format))
	_, err = inert.Format("#(rm -rf /tmp/x)", v)
	fmt.Println(err != nil)
	// Output:
	// %0 alive <nil>
	// true
}

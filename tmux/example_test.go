package tmux_test

import (
	"context"
	"fmt"
	"os"

	"tmuxmcp/tmux"
)

// The program of every pane of the user's tmux server.
func Example() {
	ctx := context.Background()
	err := func() error {
		srv, err := tmux.New(tmux.Config{})
		if err != nil {
			return err
		}
		type row struct {
			ID      tmux.PaneID `tmux:"pane_id"`
			Command string      `tmux:"pane_current_command"`
		}
		rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
		if err != nil {
			return err
		}
		for _, r := range rows {
			fmt.Println(r.ID, r.Command)
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

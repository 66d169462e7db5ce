// Watch runs a command, with the line on its standard input, for each line with FAIL that
// panes print, until all of them have ended. In a pane of tmux:
//
//	watch 'mail -s FAIL me' %1 %2 %3
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: watch COMMAND PANE...")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := tmux.FromEnv(tmux.Config{})
	if err == nil {
		err = watch(ctx, srv, os.Args[1], os.Args[2:]...)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func watch(ctx context.Context, srv *tmux.Server, command string, panes ...string) error {
	var ids []tmux.PaneID
	for _, id := range panes {
		ids = append(ids, tmux.PaneID(id))
	}
	for event, err := range follow.Panes(ctx, srv, ids...) {
		if err != nil {
			return err
		}
		if event.Missed && event.Ended == nil {
			log.Printf("pane %s: lines may be missing", event.Pane)
		}
		for _, line := range event.Lines {
			if !strings.Contains(line, "FAIL") {
				continue
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Stdin, cmd.Stderr = strings.NewReader(fmt.Sprintf("pane %s: %s\n", event.Pane, line)), os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", command, err)
			}
		}
	}
	return nil
}

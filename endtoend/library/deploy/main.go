// Deploy runs commands in panes, command i in pane i modulo their number, and stops at the
// first that fails. With -parallel all run at once, and the others are interrupted then.
//
//	deploy -panes web:0.0,web:0.1,db:0.0 'make build' 'make check' 'systemctl restart db'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

func main() {
	panes := flag.String("panes", "", "the panes, separated by commas")
	parallel := flag.Bool("parallel", false, "run all commands at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := tmux.New(tmux.Config{})
	if err == nil {
		err = deploy(ctx, srv, os.Stdout, *parallel, strings.Split(*panes, ","), flag.Args())
	}
	var exit *shell.ExitError
	if errors.As(err, &exit) {
		log.Print(err)
		os.Exit(exit.Status)
	} else if err != nil {
		log.Fatal(err)
	}
}

func deploy(ctx context.Context, srv *tmux.Server, out io.Writer, parallel bool, names, commands []string) error {
	var panes []tmux.PaneRef
	for _, name := range names {
		pane, err := srv.PaneAt(ctx, tmux.TargetSpec(name))
		if err != nil {
			return fmt.Errorf("pane %q: %w", name, err)
		}
		panes = append(panes, pane.PaneRef)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var runner shell.Runner
	defer runner.Close()
	var running sync.WaitGroup
	for i, command := range commands {
		running.Go(func() {
			_, err := runner.Run(ctx, panes[i%len(panes)], command, shell.Options{Stdout: out, Interrupt: true})
			if err != nil && ctx.Err() == nil {
				fail(fmt.Errorf("step %d: %w", i+1, err))
			}
		})
		if !parallel {
			running.Wait()
		}
		if ctx.Err() != nil {
			break
		}
	}
	running.Wait()
	return context.Cause(ctx)
}

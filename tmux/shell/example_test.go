package shell_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

// shells returns a tmux server of its own with a pane for each name, in which sh runs.
func shells(ctx context.Context, n int) (srv *tmux.Server, panes []tmux.PaneRef, done func()) {
	binary, err := testtmux.Find()
	if err != nil {
		log.Fatal(err)
	}
	srv, end, err := testserver.Open(binary)
	if err != nil {
		log.Fatal(err)
	}
	for range n {
		made, err := srv.NewSession(ctx, tmux.NewSession{})
		if err != nil {
			log.Fatal(err)
		}
		all, err := made.Panes(ctx)
		if err != nil {
			log.Fatal(err)
		}
		panes = append(panes, all[0].PaneRef)
	}
	return srv, panes, func() {
		if err := end(); err != nil {
			log.Print(err)
		}
	}
}

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, panes, done := shells(ctx, 1)
	defer done()

	res, err := shell.Run(ctx, panes[0], "for i in 1 2 3; do echo line $i; done")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(res.Output)
	// Output:
	// line 1
	// line 2
	// line 3
}

// A command that fails is an error, as with os/exec, and has a result all the same.
func ExampleRun_failure() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, panes, done := shells(ctx, 1)
	defer done()

	res, err := shell.Run(ctx, panes[0], "echo almost; exit 3")
	var exit *shell.ExitError
	if errors.As(err, &exit) {
		fmt.Println("status", exit.Status)
	}
	fmt.Print(res.Output)
	// Output:
	// status 3
	// almost
}

// A deployment runs steps in several panes, and stops at the first that fails.
func ExampleRun_deployment() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, panes, done := shells(ctx, 3)
	defer done()
	build, web, database := panes[0], panes[1], panes[2]

	for _, step := range []struct {
		pane    tmux.PaneRef
		command string
	}{
		{build, "echo compiled"},
		{database, "echo migrated"},
		{web, "echo restarted; false"},
		{web, "echo never reached"},
	} {
		res, err := shell.Run(ctx, step.pane, step.command)
		if res != nil {
			fmt.Print(res.Output)
		}
		if err != nil {
			fmt.Println("stopped:", strings.ReplaceAll(err.Error(), string(step.pane.ID), "web"))
			break
		}
	}
	// Output:
	// compiled
	// migrated
	// restarted
	// stopped: "echo restarted; false" in pane web: exit status 1
}

// A job that was started is read while it runs, and ended by a signal.
func ExampleStart() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, panes, done := shells(ctx, 1)
	defer done()

	job, err := shell.Start(ctx, panes[0], "echo listening; exec sleep 1000")
	if err != nil {
		log.Fatal(err)
	}
	output := job.Output(ctx)
	defer output.Close()
	if lines := bufio.NewScanner(output); lines.Scan() {
		fmt.Println(lines.Text())
	}
	if err := job.Signal(syscall.SIGTERM); err != nil {
		log.Fatal(err)
	}
	_, err = job.Wait(ctx, shell.Options{})
	var exit *shell.ExitError
	fmt.Println(errors.As(err, &exit), exit.Status == 128+int(syscall.SIGTERM))
	// Output:
	// listening
	// true true
}

// A server is started, used once it is ready, and interrupted. One that ends instead of
// getting ready is an error of its own.
func ExampleOptions_until() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, panes, done := shells(ctx, 2)
	defer done()

	var runner shell.Runner
	defer runner.Close()
	options := shell.Options{
		Until: func(line string) bool { return strings.HasPrefix(line, "listening") },
		Limit: 30 * time.Second,
	}
	for i, command := range []string{"echo loading; echo listening on 8080; exec sleep 1000", "echo loading; echo the port is in use; exit 1"} {
		res, err := runner.Run(ctx, panes[i], command, options)
		switch {
		case res == nil:
			log.Fatal(err)
		case res.Reached && err == nil:
			fmt.Print("ready:\n", res.Output)
			if err := res.Job.Signal(syscall.SIGINT); err != nil {
				log.Fatal(err)
			}
		default:
			fmt.Printf("not ready, exit status %d:\n%s", res.Status, res.Output)
		}
	}
	// Output:
	// ready:
	// loading
	// listening on 8080
	// not ready, exit status 1:
	// loading
	// the port is in use
}

// Several commands run one after the other, with nothing of others between.
func ExampleShell_Lock() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	srv, panes, done := shells(ctx, 1)
	defer done()

	var runner shell.Runner
	defer runner.Close()
	sh, err := runner.At(ctx, srv, panes[0])
	if err != nil {
		log.Fatal(err)
	}
	if err := sh.Lock(ctx); err != nil {
		log.Fatal(err)
	}
	defer sh.Close()
	for _, command := range []string{"echo first", "echo second"} {
		res, err := sh.Run(ctx, command, shell.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(res.Output)
	}
	// Output:
	// first
	// second
}

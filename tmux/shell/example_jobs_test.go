package shell_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"tmuxmcp/tmux/shell"
)

// Handle each line of output by itself, as soon as no program can change it any more.
func ExampleOptions() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, panes, done := shells(ctx, 1)
	defer done()

	var runner shell.Runner
	defer runner.Close()
	res, err := runner.Run(ctx, panes[0], "seq 500", shell.Options{Lines: func(line string) {
		if line == "7" || line == "77" {
			fmt.Println("line", line)
		}
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q %s\n", res.Output, res.State)
	// Output:
	// line 7
	// line 77
	// "" ended
}

// Start a command, and find it again by the name of its job, as another program could.
func ExampleFind() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	srv, panes, done := shells(ctx, 1)
	defer done()

	started, err := shell.Start(ctx, panes[0], "read name; echo hello, $name")
	if err != nil {
		log.Fatal(err)
	}
	job, err := shell.Find(ctx, srv, started.ID())
	if err != nil {
		log.Fatal(err)
	}
	state, _ := job.State()
	fmt.Println(job.Command(), state)
	if err := job.Pane().SendLine(ctx, "world"); err != nil {
		log.Fatal(err)
	}
	res, err := job.Wait(ctx, shell.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasSuffix(res.Output, "hello, world\n")) // after the echo of what was typed
	// Output:
	// read name; echo hello, $name running
	// true
}

// List the jobs of a server, newest first.
func ExampleJobs() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	srv, panes, done := shells(ctx, 2)
	defer done()
	if _, err := shell.Start(ctx, panes[0], "sleep 1000"); err != nil {
		log.Fatal(err)
	}
	short, err := shell.Start(ctx, panes[1], "exit 3")
	if err != nil {
		log.Fatal(err)
	}
	var exit *shell.ExitError
	if _, err := short.Wait(ctx, shell.Options{}); !errors.As(err, &exit) {
		log.Fatal(err)
	}

	jobs, err := shell.Jobs(ctx, srv)
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range jobs {
		state, status := job.State()
		fmt.Println(job.Command(), state, status)
	}
	// Output:
	// exit 3 ended 3
	// sleep 1000 running 0
}

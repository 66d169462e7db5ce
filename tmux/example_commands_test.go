package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/exec"
	"strings"

	"tmuxmcp/tmux"
)

// Run commands in one round trip: what no method does, or several at once.
func ExampleServer_Do() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	pane := srv.Pane("%0")
	out, err := srv.Do(ctx,
		tmux.SplitWindow{Target: pane, Detached: true, Print: true, Format: "#{pane_id}"},
		tmux.SwapPane{Source: pane, Target: tmux.TargetSpec("{bottom}")},
		tmux.DisplayMessage{Target: pane, Print: true, Message: "#{pane_index}"},
		tmux.KillPane{Target: tmux.PaneID("%99")},
		tmux.KillPane{Target: pane}) // does not run
	for _, text := range out {
		fmt.Printf("%q\n", text)
	}
	fmt.Println(err)
	// Output:
	// "%1\n"
	// ""
	// "1\n"
	// ""
	// kill-pane: can't find pane: %99
}

// Run a shell command where the server is. tmux 3.3 and 3.4 cannot return its output.
func ExampleServer_RunShell() {
	srv, done := throwaway()
	defer done()

	const command = "echo some output; exit 3"
	result, err := srv.RunShell(context.Background(), command, tmux.ShellOptions{})
	if errors.Is(err, tmux.ErrUnsupported) {
		cmd := exec.Command("/bin/sh", "-c", command) // this server is on the same machine
		result.Output, _ = cmd.Output()
		result.ExitCode, err = cmd.ProcessState.ExitCode(), nil
	}
	fmt.Printf("%q %d %v\n", result.Output, result.ExitCode, err)
	// Output: "some output\n" 3 <nil>
}

// Do what this tmux can do. What it cannot is an error that names the version needed.
func ExampleServer_Supports() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	version, err := srv.Version(ctx)
	if err != nil {
		log.Fatal(err)
	}
	floats, err := srv.Supports(ctx, tmux.FloatingPanes)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(version.Has(tmux.MinVersion), floats == version.Has(tmux.Version{Major: 3, Minor: 7}))

	_, err = srv.Pane("%0").Float(ctx, tmux.NewPane{Width: tmux.Cells(20), Height: tmux.Cells(5)})
	var unsupported *tmux.UnsupportedError
	if errors.As(err, &unsupported) {
		err = nil // as expected: do without
	}
	fmt.Println(unsupported == nil == floats, err)
	// Output:
	// true true
	// true <nil>
}

// Compare versions. A development version counts as the release it leads to.
func ExampleParseVersion() {
	for _, text := range []string{"tmux 3.3a", "3.5", "next-3.8"} {
		v, err := tmux.ParseVersion(text)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(v, v.Has(tmux.Version{Major: 3, Minor: 5}))
	}
	// Output:
	// 3.3a false
	// 3.5 true
	// next-3.8 true
}

// Find the process of a server.
func ExampleServer_Process() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	process, err := srv.Process(ctx)
	if err != nil {
		log.Fatal(err)
	}
	info, err := srv.Info(ctx)
	fmt.Println(process.PID == info.PID, err)
	// Output: true <nil>
}

// Look up the tokens of paste buffers, and when tmux got them.
func ExampleTokens() {
	for _, token := range tmux.Tokens() {
		if token.Scope == tmux.BufferScope {
			fmt.Println(token.Name, token.Type)
		}
	}
	// Output:
	// buffer_created time.Time
	// buffer_full string
	// buffer_name string
	// buffer_sample string
	// buffer_size int64
}

// List the commands of this tmux with their arguments.
func ExampleListCommands() {
	srv, done := throwaway()
	defer done()

	out, err := srv.Do(context.Background(), tmux.ListCommands{Name: "kill-server"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.TrimSpace(string(out[0])))
	// Output: kill-server
}

// Put plain text into a format: nothing in it is expanded.
func ExampleLiteral() {
	srv, done := throwaway()
	defer done()

	title := "50% of #{pane_id}"
	text, err := srv.Pane("%0").Display(context.Background(), tmux.Literal(title)+" in #{pane_id}")
	fmt.Println(text, err)
	// Output: 50% of #{pane_id} in %0 <nil>
}

// See what a hook prints: it is no output of the command after which it runs.
func ExampleWithNotices() {
	srv, done := throwaway()
	defer done()
	ctx := tmux.WithNotices(context.Background(), func(text string) { fmt.Println("notice:", text) })

	if err := srv.Hooks().Set(ctx, "after-rename-window", "display-message -p 'renamed to #{window_name}'"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Window("@0").Rename(ctx, "build"))
	// Output:
	// notice: renamed to build
	// <nil>
}

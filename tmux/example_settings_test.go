package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
	"tmuxmcp/tmux/layout"
)

// Set an option of a session, and read it: the session's own value, and the one that it
// inherits.
func ExampleOptions_Set() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	options := srv.Session("$0").Options()
	if err := options.Set(ctx, "status-position", "top"); err != nil {
		log.Fatal(err)
	}
	own, err := options.Get(ctx, "status-position")
	fmt.Println(own, err)
	inherited, err := srv.GlobalSessionOptions().Get(ctx, "status-position")
	fmt.Println(inherited, err)
	err = options.Set(ctx, "status-position", "left")
	fmt.Println(errors.Is(err, tmux.ErrBadValue))
	// Output:
	// top <nil>
	// bottom <nil>
	// true
}

// Set an option that is a list, and read its items.
func ExampleOptions_SetItems() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	options := srv.GlobalSessionOptions()
	if err := options.SetItems(ctx, "update-environment", []string{"DISPLAY", "SSH_AUTH_SOCK"}); err != nil {
		log.Fatal(err)
	}
	items, err := options.Items(ctx, "update-environment")
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range items {
		fmt.Println(item.Index, item.Value)
	}
	// Output:
	// 0 DISPLAY
	// 1 SSH_AUTH_SOCK
}

// Wait until a session is closed, with a hook that signals a channel.
func ExampleHooks() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := srv.NewSession(ctx, tmux.NewSession{Name: "build"})
	if err != nil {
		log.Fatal(err)
	}

	signal, err := srv.Script(ctx, tmux.WaitFor{Signal: true, Channel: "closed"})
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Hooks().Set(ctx, "session-closed", signal); err != nil {
		log.Fatal(err)
	}
	hooks, err := srv.Hooks().Get(ctx, "session-closed")
	fmt.Println(hooks[0].Commands, err)
	if err := session.Kill(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Channel("closed").Wait(ctx))
	// Output:
	// wait-for -S closed <nil>
	// <nil>
}

// Wait for a signal from a command in a pane. It does not matter which comes first.
func ExampleChannel() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	signal := tmux.ShellQuote(srv.Binary()) + " wait-for -S built" // in a pane, tmux finds its server
	if err := srv.Pane("%0").SendLine(ctx, "echo build; "+signal); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Channel("built").Wait(ctx))

	if err := srv.Channel("tested").Signal(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Channel("tested").Wait(ctx))
	// Output:
	// <nil>
	// <nil>
}

// Set variables for the panes that a session makes from now on.
func ExampleEnvironment() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	env := srv.Session("$0").Environment()
	if err := env.Set(ctx, "STAGE", "it's a test"); err != nil {
		log.Fatal(err)
	}
	v, err := env.Get(ctx, "STAGE")
	fmt.Println(v.Name, v.Value, err)
	_, err = srv.Environment().Get(ctx, "STAGE") // the global one
	fmt.Println(errors.Is(err, tmux.ErrNotFound))

	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{`echo "[$STAGE]"; exec sleep 60`}})
	if err != nil {
		log.Fatal(err)
	}
	_, line, err := follow.WaitFor(ctx, pane.PaneRef, "[")
	fmt.Println(line, err)
	// Output:
	// STAGE it's a test <nil>
	// true
	// [it's a test] <nil>
}

// Bind a key to two commands, and list what the keys of a table do.
func ExampleServer_Bind() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	script, err := srv.Script(ctx, tmux.SplitWindow{Right: true, Command: []string{"top"}}, tmux.SelectLayout{Layout: layout.Tiled})
	if err != nil {
		log.Fatal(err)
	}
	err = srv.Bind(ctx, tmux.BindKey{Table: "mine", Key: "C-t", Note: "show top", Command: []string{script}})
	if err != nil {
		log.Fatal(err)
	}
	bindings, err := srv.KeyBindings(ctx, "mine")
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range bindings {
		fmt.Println(b.Key, b.Command)
	}
	fmt.Println(srv.Unbind(ctx, "mine", "C-t"))
	// Output:
	// C-t split-window -h top \; select-layout tiled
	// <nil>
}

// Write commands as text, for a hook: each new window gets a pane below. Names and the like
// are quoted.
func ExampleServer_Script() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	script, err := srv.Script(ctx, tmux.SplitWindow{}, tmux.RenameWindow{Name: "it's #1; \"two\" panes"})
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Hooks().Set(ctx, "after-new-window", script); err != nil {
		log.Fatal(err)
	}
	window, err := srv.Session("$0").NewWindow(ctx, tmux.NewWindow{})
	if err != nil {
		log.Fatal(err)
	}
	window, err = window.Info(ctx) // the hook has run after the command
	fmt.Println(window.PaneCount, window.Name, err)
	// Output: 2 it's #1; "two" panes <nil>
}

// Run the text of a configuration file. After a command that fails, the following lines
// still run.
func ExampleServer_Source() {
	srv, done := throwaway()
	defer done()

	output, err := srv.Source(context.Background(), []byte(`
set -g base-index 1
kill-window -t :99
display -p 'windows count from #{base-index}'
`))
	fmt.Printf("%s%v\n", output, err)
	// Output:
	// windows count from 1
	// source-file: can't find window: 99
}

// Keep text in a paste buffer, append to it, and paste it.
func ExampleServer_SetBuffer() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	buffer, err := srv.SetBuffer(ctx, "notes", []byte("one\n"))
	if err != nil {
		log.Fatal(err)
	}
	if err := buffer.Append(ctx, "two\n"); err != nil {
		log.Fatal(err)
	}
	content, err := srv.Buffer("notes").Bytes(ctx)
	fmt.Printf("%q %v\n", content, err)
	buffers, err := srv.Buffers(ctx, tmux.MatchToken("buffer_name", "not*", tmux.MatchOptions{Glob: true}))
	fmt.Println(len(buffers), buffers[0].Name, buffers[0].Size, err)
	fmt.Println(buffer.Delete(ctx))
	// Output:
	// "one\ntwo\n" <nil>
	// 1 notes 8 <nil>
	// <nil>
}

// Paste a buffer into a pane and delete it, in one round trip.
func ExampleBufferRef_Pasting() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pane, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Command: []string{"cat"}})
	if err != nil {
		log.Fatal(err)
	}
	buffer, err := srv.SetBuffer(ctx, "notes", []byte("buy milk\n"))
	if err != nil {
		log.Fatal(err)
	}

	paste, err := buffer.Pasting(ctx, pane, tmux.PasteOptions{Returns: true})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := srv.Do(ctx, paste, tmux.DeleteBuffer{Buffer: buffer.Name}); err != nil {
		log.Fatal(err)
	}
	_, line, err := follow.WaitFor(ctx, pane.PaneRef, "milk")
	fmt.Println(line, err)
	// Output: buy milk <nil>
}

// Copy a stream into a paste buffer, and out of it.
func ExampleServer_LoadBuffer() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	buffer, err := srv.LoadBuffer(ctx, "data", strings.NewReader("any bytes,\x00of any size\n"))
	if err != nil {
		log.Fatal(err)
	}
	var out strings.Builder
	err = buffer.SaveTo(ctx, &out)
	fmt.Printf("%s %q %v\n", buffer.Name, out.String(), err)
	// Output: data "any bytes,\x00of any size\n" <nil>
}

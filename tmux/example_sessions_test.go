package tmux_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/tmux"
)

// Connect to a server by the path of its socket, with the transport that a flag names. No
// server listens there: that is found out by the first call.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "tmux")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	transport, err := tmux.ParseTransport("exec")
	if err != nil {
		log.Fatal(err)
	}
	srv, err := tmux.New(tmux.Config{SocketPath: filepath.Join(dir, "socket"), Transport: transport})
	if err != nil {
		log.Fatal(err) // there is no tmux program
	}
	_, err = srv.Sessions(context.Background())
	fmt.Println(errors.Is(err, tmux.ErrNoServer))
	// Output: true
}

// List the sessions with their windows, and choose one by the beginning of its name.
func Example_sessionPicker() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	if _, err := srv.NewSession(ctx, tmux.NewSession{Name: "docs", WindowName: "editor"}); err != nil {
		log.Fatal(err)
	}

	sessions, err := srv.Sessions(ctx)
	if err != nil {
		log.Fatal(err)
	}
	slices.SortFunc(sessions, func(a, b tmux.Session) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range sessions {
		fmt.Printf("%s: %d windows, attached: %t\n", s.Name, s.WindowCount, s.Attached > 0)
	}
	typed := "do" // what the user types
	i := slices.IndexFunc(sessions, func(s tmux.Session) bool { return strings.HasPrefix(s.Name, typed) })
	if i < 0 {
		log.Fatalf("no session %q", typed)
	}
	windows, err := sessions[i].Windows(ctx)
	fmt.Println(sessions[i].Name, windows[0].Index, windows[0].Name, err)
	// What is left to do, in a terminal: sessions[i].Attach(ctx, tmux.AttachSession{})

	// Output:
	// docs: 1 windows, attached: false
	// work: 1 windows, attached: false
	// docs 0 editor <nil>
}

// Create a session that runs a program, and kill it.
func ExampleServer_NewSession() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session, err := srv.NewSession(ctx, tmux.NewSession{
		Name: "logs", WindowName: "tail", Dir: "/", Width: 120, Height: 30,
		Env: tmux.Env{"LEVEL": "debug"}, Command: []string{"tail", "-f", "/dev/null"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Name, session.Path, session.WindowCount)
	_, err = srv.NewSession(ctx, tmux.NewSession{Name: "logs"})
	fmt.Println(errors.Is(err, tmux.ErrExists))
	fmt.Println(session.Kill(ctx))
	// Output:
	// logs / 1
	// true
	// <nil>
}

// Create a session whose first window has an index that you choose, whatever the option
// base-index says. If it is that index already, tmux refuses the move with [tmux.ErrExists].
func ExampleServer_NewSession_index() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session, err := srv.NewSession(ctx, tmux.NewSession{Name: "docs", WindowName: "edit"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = srv.Do(ctx, tmux.MoveWindow{Source: session, Target: session.At(3)})
	if err != nil && !errors.Is(err, tmux.ErrExists) { // the index is 3 already
		log.Fatal(err)
	}
	windows, err := session.Windows(ctx)
	fmt.Println(len(windows), windows[0].Index, windows[0].Name, err)
	// Output: 1 3 edit <nil>
}

// End a server with everything in it. It is not an error if there is none.
func ExampleServer_Kill() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	fmt.Println(srv.Kill(ctx))
	_, err := srv.Sessions(ctx)
	fmt.Println(errors.Is(err, tmux.ErrNoServer))
	fmt.Println(srv.Kill(ctx))
	// Output:
	// <nil>
	// true
	// <nil>
}

// Find a session by its exact name, and create it if there is none.
func ExampleServer_SessionNamed() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()

	session, err := srv.SessionNamed(ctx, "wor") // not "work", which tmux itself would take
	if errors.Is(err, tmux.ErrNotFound) {
		session, err = srv.NewSession(ctx, tmux.NewSession{Name: "wor"})
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Name)
	found, err := srv.HasSession(ctx, tmux.Named("work"))
	fmt.Println(found, err)
	// Output:
	// wor
	// true <nil>
}

// Show what a server reports about itself.
func ExampleServer_Info() {
	srv, done := throwaway()
	defer done()

	info, err := srv.Info(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.SocketPath == srv.SocketPath(), info.PID > 1, info.ConfigFiles)
	fmt.Println(info.SessionCount == nil || *info.SessionCount == 1) // nil before tmux 3.4
	// Output:
	// true true [/dev/null]
	// true
}

// Switch a client to another session. The client runs in a pane here; a hook signals when it
// is attached.
func ExampleClientRef_Switch() {
	srv, done := throwaway()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := srv.Hooks().Set(ctx, "client-attached", "wait-for -S attached"); err != nil {
		log.Fatal(err)
	}
	attach := []string{"env", "-u", "TMUX", srv.Binary(), "-S", srv.SocketPath(), "attach", "-t", "=work"}
	if _, err := srv.NewSession(ctx, tmux.NewSession{Name: "outer", Command: attach}); err != nil {
		log.Fatal(err)
	}
	if err := srv.Channel("attached").Wait(ctx); err != nil {
		log.Fatal(err)
	}

	clients, err := srv.Clients(ctx)
	if err != nil {
		log.Fatal(err)
	}
	other, err := srv.NewSession(ctx, tmux.NewSession{Name: "other"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clients[0].Session, clients[0].Switch(ctx, other))
	client, err := clients[0].Info(ctx)
	fmt.Println(client.Session, err)
	// Output:
	// work <nil>
	// other <nil>
}

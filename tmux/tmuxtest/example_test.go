package tmuxtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// Test a program in a terminal of another size, with another environment.
func ExampleTerminal() {
	var t *testing.T // the test's

	term := tmuxtest.Terminal{Width: 40, Height: 10, Env: []string{"NO_COLOR=1"}}
	p := term.Start(t, tmuxtest.Build(t, "./cmd/menu"), "-plain")
	p.WaitFor("New", "Open")
	p.Press("Down", "Enter")
	p.Golden("open")
}

// Start a tmux server for an example.
func ExampleOpen() {
	srv, end, err := tmuxtest.Open(tmux.Config{Binary: os.Getenv("TMUX_TEST_BINARY")})
	if err != nil {
		log.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	_, err = srv.Sessions(ctx)
	fmt.Println(errors.Is(err, tmux.ErrNoServer)) // the first session starts it
	session, err := srv.NewSession(ctx, tmux.NewSession{Name: "work", Command: []string{"cat"}})
	fmt.Println(session.Name, err)
	// Output:
	// true
	// work <nil>
}

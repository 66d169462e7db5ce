package main

import (
	"flag"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

var _ = flag.Bool("update", false, "write the golden files")

func TestTodo(t *testing.T) {
	todo := tmuxtest.Build(t, ".")
	start := func(t *testing.T, items ...string) *tmuxtest.Program {
		p := tmuxtest.Terminal{Width: 50, Height: 10}.Start(t, todo)
		p.WaitFor("To do", "50x10")
		for _, item := range items {
			p.Type("a" + item)
			p.Press("Enter")
			p.WaitFor("> [ ] " + item)
		}
		return p
	}
	t.Run("toggle", func(t *testing.T) {
		p := start(t, "milk", "bread & butter", "crème brûlée")
		p.Press("Up", "Up", "Space", "Down")
		p.Golden("toggled")
		p.GoldenStyled("toggled")
		p.Press("q")
		if status := p.WaitExit(); status != 1 || p.Screen() != "bye" {
			t.Errorf("exit status %d, and the screen shows %q", status, p.Screen())
		}
	})
	t.Run("resize", func(t *testing.T) {
		p := start(t, "a rather long thing to do", "short")
		p.Resize(20, 5)
		p.Golden("small")
		p.Press("C-c")
		if status := p.WaitExit(); status != 130 {
			t.Errorf("exit status %d", status)
		}
	})
}

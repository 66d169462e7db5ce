package tmuxtest_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

// TestCounter shows how a terminal program is tested; the program is testdata/counter.
func TestCounter(t *testing.T) {
	t.Parallel()
	p := tmuxtest.Start(t, tmuxtest.Build(t, "./testdata/counter"))
	p.WaitFor("Count: 0")
	p.Type("+++-")
	p.WaitFor("Count: 2")
	p.GoldenStyled("counter")
	p.Type("q")
	if status := p.WaitExit(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestMenu does so with keys, sizes and the mouse; the program is testdata/menu.
func TestMenu(t *testing.T) {
	menu := tmuxtest.Build(t, "./testdata/menu")

	t.Run("keys", func(t *testing.T) {
		t.Parallel()
		p := tmuxtest.Start(t, menu)
		p.GoldenStyled("menu")
		p.Press("Down", "Down", "Up")
		p.GoldenStyled("menu-open")
		p.Press("q")
		if status := p.WaitExit(); status != 0 {
			t.Errorf("exit status %d", status)
		}
	})

	t.Run("size", func(t *testing.T) {
		t.Parallel()
		p := tmuxtest.Terminal{Width: 40, Height: 10}.Start(t, menu)
		p.WaitFor("40x10")
		p.Resize(20, 6)
		p.Golden("menu-small")
	})

	t.Run("mouse", func(t *testing.T) {
		t.Parallel()
		p := tmuxtest.Start(t, menu)
		p.WaitFor("Quit")
		p.Click(4, 3)
		p.Press("Enter")
		p.WaitUntil("an empty screen", func(screen string) bool { return strings.TrimSpace(screen) == "" })
		p.WaitExit()
	})
}

package tmux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestACutRowIsReadAgain: a tmux of 3.7 or later that was held up for 100 ms leaves out the rest of a
// row. Here a program between drops it, once or always.
func TestACutRowIsReadAgain(t *testing.T) {
	t.Parallel()
	base := tmuxtest.New(t)
	tmuxtest.Run(t, base, "new-session", "-d")
	dir := t.TempDir()
	binary, log := filepath.Join(dir, "tmux"), filepath.Join(dir, "log")
	script := `#!/bin/sh
cd ` + dir + `
cat >in
grep -q pane_width in || exec ` + base.Binary() + ` "$@" <in
echo >>log
[ ! -e whole ] || exec ` + base.Binary() + ` "$@" <in
[ -e always ] || : >whole
` + base.Binary() + ` "$@" <in | sed 's/^\(%[0-9]*|\).*/\1/'
`
	ok(t, testtool.WriteProgram(binary, []byte(script)))
	srv := must[*tmux.Server](t)(tmux.New(tmux.Config{Binary: binary, SocketPath: base.SocketPath(), Transport: tmux.TransportExec}))
	type row struct {
		ID    tmux.PaneID `tmux:"pane_id"`
		Width int         `tmux:"pane_width"`
	}
	sent := func() int {
		b, _ := os.ReadFile(log)
		os.Remove(log)
		return len(b)
	}
	ctx := tmuxtest.Context(t)
	rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
	if n := sent(); err != nil || len(rows) != 1 || rows[0].Width == 0 || n != 2 {
		t.Errorf("sent %d times: %v %v", n, rows, err)
	}
	ok(t, os.Remove(filepath.Join(dir, "whole")))
	ok(t, os.WriteFile(filepath.Join(dir, "always"), nil, 0o600))
	rows, err = tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
	if n := sent(); err == nil || n != 3 {
		t.Errorf("sent %d times: %v %v", n, rows, err)
	}
	// Nor is a row that is gone whole taken for a part of the next one.
	script = strings.Replace(script, `s/^\(%[0-9]*|\).*/\1/`, `1s/.*//`, 1)
	ok(t, testtool.WriteProgram(binary, []byte(script)))
	tmuxtest.Run(t, base, "split-window", "-d")
	rows, err = tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
	if n := sent(); err == nil || n != 3 {
		t.Errorf("sent %d times: %v %v", n, rows, err)
	}
	// What makes a pane is not sent again.
	rows, err = tmux.List[row](ctx, srv, tmux.SplitWindow{Detached: true})
	if n := sent(); err == nil || n != 1 {
		t.Errorf("sent %d times: %v %v", n, rows, err)
	}
}

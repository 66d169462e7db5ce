package tmux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// TestACutRowIsReadAgain: a tmux of 3.7 or later that was held up for 100 ms drops the rest
// of a row. Here a program in between drops it, once or always.
func TestACutRowIsReadAgain(t *testing.T) {
	t.Parallel()
	base := testserver.New(t)
	testserver.Run(t, base, "new-session", "-d")
	dir := t.TempDir()
	binary, log := filepath.Join(dir, "tmux"), filepath.Join(dir, "log")
	script := `#!/bin/sh
cd ` + dir + `
cat >in
grep -q pane_width in || exec ` + base.Binary() + ` "$@" <in
echo >>log
[ ! -e whole ] || exec ` + base.Binary() + ` "$@" <in
[ -e always ] || : >whole
` + base.Binary() + ` "$@" <in | sed 's/^\(\..*%[0-9]*|\)[0-9]*|$/\1/'
`
	check.OK(t, testtool.WriteProgram(binary, []byte(script)))
	srv := testserver.Handle(t, tmux.Config{Binary: binary, SocketPath: base.SocketPath(), Transport: tmux.TransportExec})
	type row struct {
		ID    tmux.PaneID `tmux:"pane_id"`
		Width int         `tmux:"pane_width"`
	}
	list := func(what string, wantSent int, cmd tmux.Lister) (rows []row, err error) {
		t.Helper()
		rows, err = tmux.List[row](testserver.Context(t), srv, cmd)
		sent, _ := os.ReadFile(log)
		os.Remove(log)
		check.Equal(t, what+": sent", wantSent, len(sent))
		return rows, err
	}
	rows, err := list("cut once", 2, tmux.ListPanes{All: true})
	check.That(t, err == nil && len(rows) == 1 && rows[0].Width > 0, "%v %v", rows, err)
	check.OK(t, os.Remove(filepath.Join(dir, "whole")))
	rows, err = list("made, and cut once", 2, tmux.SplitWindow{Detached: true, Command: []string{"exec cat"}})
	check.That(t, err == nil && len(rows) == 1 && rows[0].ID != "%0" && rows[0].Width > 0, "%v %v", rows, err)
	check.OK(t, os.Remove(filepath.Join(dir, "whole")))
	check.OK(t, os.WriteFile(filepath.Join(dir, "always"), nil, 0o600))
	rows, err = list("cut always", 3, tmux.ListPanes{All: true})
	check.That(t, err != nil, "%v", rows)
	rows, err = list("made, and cut always", 3, tmux.SplitWindow{Detached: true, Command: []string{"exec cat"}})
	check.That(t, err != nil, "%v", rows)
	// Nor is a row that is missing entirely taken for a part of the next one.
	script = strings.Replace(script, `s/^\(\..*%[0-9]*|\)[0-9]*|$/\1/`, `1s/.*//`, 1)
	check.OK(t, testtool.WriteProgram(binary, []byte(script)))
	testserver.Run(t, base, "split-window", "-d")
	rows, err = list("without a row", 3, tmux.ListPanes{All: true})
	check.That(t, err != nil, "%v", rows)
	rows, err = list("what makes a pane", 1, tmux.SplitWindow{Detached: true})
	check.That(t, err != nil, "%v", rows)
}

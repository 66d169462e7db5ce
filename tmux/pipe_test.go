package tmux_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func FuzzPipeToFile(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	srv := started(f)
	dir := f.TempDir()
	marker := filepath.Join(dir, "marker")
	f.Add("#(touch " + marker + ")")
	f.Add("$(touch " + marker + ")'; touch " + marker + ";'")
	pane := drawn(f, srv, "cat")
	f.Fuzz(func(t *testing.T, name string) {
		ctx := tmuxtest.Context(t)
		if len(name) > 200 {
			t.Skip("longer than a file name")
		}
		// One file in a directory of its own; no slash, and not "." or "..".
		sub, err := os.MkdirTemp(dir, "d")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(sub, "x"+strings.ReplaceAll(name, "/", "_"))
		err = pane.PipeToFile(ctx, path)
		if strings.IndexByte(name, 0) >= 0 {
			if !errors.Is(err, tmux.ErrArgument) {
				t.Fatalf("a NUL byte was not refused: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := pane.SendLine(ctx, "hello"); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Wait(t, srv, string(pane.ID), "output in "+path, func() bool {
			data, _ := os.ReadFile(path)
			return strings.Contains(string(data), "hello")
		})
		if err := pane.ClosePipe(ctx); err != nil {
			t.Fatal(err)
		}
		if open, err := pane.Display(ctx, "#{pane_pipe}"); err != nil || open != "0" {
			t.Errorf("pane_pipe is %s, %v after the pipe was closed", open, err)
		}
		entries, _ := os.ReadDir(sub)
		if len(entries) != 1 {
			t.Errorf("%q made %d files: %v", path, len(entries), entries)
		}
		if _, err := os.Stat(marker); err == nil {
			t.Fatalf("%q ran a command", path)
		}
	})
}

func TestPipeRefusesRelativePaths(t *testing.T) {
	t.Parallel()
	pane, ctx := started(t).Pane("%0"), tmuxtest.Context(t)
	if err := pane.PipeToFile(ctx, "out.log"); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("a relative path: %v", err)
	}
	if err := pane.Pipe(ctx, ""); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("an empty command: %v", err)
	}
}

// A command with percent signs is longer than the buffer that tmux gives
// strftime.
func TestPipeLongCommand(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	path := filepath.Join(t.TempDir(), "out")
	pane := drawn(t, srv, "cat")
	if err := pane.Pipe(ctx, "printf %s '"+strings.Repeat("100% #{x} ", 2000)+"' >"+path); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Wait(t, srv, string(pane.ID), "long command", func() bool {
		data, _ := os.ReadFile(path)
		return string(data) == strings.Repeat("100% #{x} ", 2000)
	})
}

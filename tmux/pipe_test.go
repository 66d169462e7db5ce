package tmux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func FuzzPipeToFile(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	srv := testserver.Started(f)
	dir := f.TempDir()
	marker := filepath.Join(dir, "marker")
	f.Add("#(touch " + marker + ")")
	f.Add("$(touch " + marker + ")'; touch " + marker + ";'")
	pane := testserver.Drawn(f, srv, "cat")
	f.Fuzz(func(t *testing.T, name string) {
		ctx := testserver.Context(t)
		if len(name) > 200 {
			t.Skip("longer than a file name")
		}
		// One file in a directory of its own; no slash, and not "." or "..".
		sub := check.Must[string](t)(os.MkdirTemp(dir, "d"))
		path := filepath.Join(sub, "x"+strings.ReplaceAll(name, "/", "_"))
		err := pane.PipeToFile(ctx, path)
		if strings.IndexByte(name, 0) >= 0 {
			check.Kind(t, "a NUL byte", err, tmux.ErrArgument)
			return
		}
		check.OK(t, err)
		check.OK(t, pane.SendLine(ctx, "hello"))
		testserver.Wait(t, srv, string(pane.ID), "output in "+path, func() bool {
			data, _ := os.ReadFile(path)
			return strings.Contains(string(data), "hello")
		})
		check.OK(t, pane.ClosePipe(ctx))
		check.Equal(t, "pane_pipe", "0", check.Must[string](t)(pane.Display(ctx, "#{pane_pipe}")))
		entries, _ := os.ReadDir(sub)
		check.Equal(t, "files made by "+path, 1, len(entries))
		check.Absent(t, marker)
	})
}

// A command with percent signs is longer than the buffer that tmux gives
// strftime.
func TestPipeLongCommand(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	path := filepath.Join(t.TempDir(), "out")
	pane := testserver.Drawn(t, srv, "cat")
	check.OK(t, pane.Pipe(ctx, "printf %s '"+strings.Repeat("100% #{x} ", 2000)+"' >"+path))
	testserver.Wait(t, srv, string(pane.ID), "long command", func() bool {
		data, _ := os.ReadFile(path)
		return string(data) == strings.Repeat("100% #{x} ", 2000)
	})
}

package server_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tmuxmcp/internal/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestCallerIsFoundWithoutItsVariables: a client in a pane starts the server
// with an environment of its own choice.
func TestCallerIsFoundWithoutItsVariables(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads the environment of other processes in /proc")
	}
	srv := tmuxtest.New(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	// Two processes between the pane and the program, and nothing of tmux's.
	script := filepath.Join(t.TempDir(), "client")
	body := "#!/bin/sh\nenv -i PATH=\"$PATH\" sh -c '" + path + " --tmux " + srv.Binary() + " call list_panes >" + out + ".part 2>&1; mv " + out + ".part " + out + "'\nexec cat\n"
	if err := testtool.WriteProgram(script, []byte(body)); err != nil {
		t.Fatal(err)
	}
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", tmux.ShellQuote(script))
	var got string
	tmuxtest.Wait(t, srv, "%1", "answer", func() bool {
		b, err := os.ReadFile(out)
		got = string(b)
		return err == nil
	})
	if strings.Count(got, `"is_caller":true`) != 1 || !strings.Contains(got, `"pane_id":"%1"`) || !strings.Contains(got[strings.Index(got, `"pane_id":"%1"`):], `"is_caller":true`) {
		t.Errorf("the caller's pane %%1 was not found: %s", got)
	}
}

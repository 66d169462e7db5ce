package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// TestCancelledWorkspaceLeavesNothing: while it waits for a shell that never gets ready.
func TestCancelledWorkspaceLeavesNothing(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	before := wholeState(t, srv)
	for _, name := range []string{"new", "a"} {
		_, id := p.begin("tools/call", map[string]any{"name": "build_workspace", "arguments": json.RawMessage(
			`{"session_name":"` + name + `","append":true,"windows":[{},{"panes":[{"shell":"while :; do echo; sleep 0.05; done","command":"x"}]}]}`)})
		testserver.Wait(t, srv, "%0", "panes", func() bool {
			return strings.Count(testserver.Run(t, srv, "list-panes", "-a"), "\n") >= 2
		})
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		testserver.Wait(t, srv, "%0", "as before", func() bool { return wholeState(t, srv) == before })
	}
}

// TestWorkspaceTypesOnce: into a shell that starts slowly, as much as a message of tmux
// does not hold, and into no other pane.
func TestWorkspaceTypesOnce(t *testing.T) {
	t.Parallel()
	bash := testtool.Path(t, "bash")
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Run(t, srv, "set-option", "-gw", "synchronize-panes", "on")
	dir := t.TempDir()
	rc := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("PS1='$ '; unset HISTFILE\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "exec " + bash + " --rcfile " + name
	}
	slow := rc("slow", "sleep 1.5\nstty -echo; read -t 0.1 x; stty echo\n")
	quick := rc("quick", "")
	var lines, windows []string
	for i := range 800 {
		lines = append(lines, fmt.Sprintf("echo %d >>long; : %s", i, strings.Repeat("x", 35)))
	}
	command := strings.Join(lines, "\n")
	if len(command) < 40_000 {
		t.Fatalf("%d bytes are typed", len(command))
	}
	for i := range 3 {
		windows = append(windows, fmt.Sprintf(`{"panes":[{"shell":%s,"command":%s},{"shell":%s}]}`, quoted(quick), quoted(strings.ReplaceAll(command, "long", fmt.Sprint("long", i))), quoted(quick)))
	}
	windows = append(windows, fmt.Sprintf(`{"panes":[{"shell":%s,"command":"echo once >>slow.out"},{"shell":"true"}]}`, quoted(slow)))
	s, p := promptly(t, srv)
	s.SetReadyWait(time.Minute)
	w := ok[workspaceBuilt](p, "build_workspace", `{"session_name":"w","x":200,"y":60,"directory":`+quoted(dir)+`,"windows":[`+strings.Join(windows, ",")+`]}`)
	if sizes := testserver.Run(t, srv, "list-windows", "-t", "=w", "-F", "#{window_width}x#{window_height}"); sizes != strings.TrimSuffix(strings.Repeat("200x60\n", len(windows)), "\n") {
		t.Errorf("the windows are %s", sizes)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintln(&want, i)
	}
	for i := range 3 {
		name := fmt.Sprint("long", i)
		testtool.Eventually(t, "all lines have run", func() bool { return len(read(name)) >= want.Len() })
		if read(name) != want.String() {
			t.Errorf("%s: %d lines ran, want %d", name, strings.Count(read(name), "\n"), len(lines))
		}
	}
	testserver.Wait(t, srv, w.Panes[6].PaneID, "the command of the slow shell", func() bool { return read("slow.out") == "once\n" })
	for i, p := range w.Panes {
		switch problem := p.Problem; {
		case i == 7 && (problem == nil || !strings.Contains(*problem, "has ended")), i < 7 && problem != nil:
			t.Errorf("pane %d: %v", i, or(problem))
		}
	}
}

func or(s *string) string {
	if s == nil {
		return "no problem"
	}
	return *s
}

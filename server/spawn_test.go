package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// TestShellsKeepNoHistoryFile: with the option a shell does not keep its history after it
// ends; without it, the same shell does.
func TestShellsKeepNoHistoryFile(t *testing.T) {
	for _, shell := range []struct{ name, command string }{
		{"bash", "bash --norc -i"}, {"zsh", "zsh -f -i -o inc_append_history"}, {"fish", "fish -i"},
	} {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, shell.name)
			for _, suppress := range []bool{false, true} {
				srv := testserver.New(t)
				session(t, srv, "a")
				testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
				home := t.TempDir()
				quietFishIn(t, home)
				env := map[string]string{"HOME": home, "XDG_DATA_HOME": home, "PS1": "ready ", "TERM": "screen"}
				if shell.name == "zsh" && !suppress {
					env["HISTFILE"] = filepath.Join(home, "history") // zsh has no default
				}
				p := serve(t, configFor(srv))
				ok[map[string]any](p, "respawn_pane", args(t, "pane_id", "%0", "shell", shell.command, "environment", env,
					"start_directory", home, "suppress_persistent_history", suppress))
				enter := func(line string) { testserver.Run(t, srv, "send-keys", "-t", "%0", line, "Enter") }
				if shell.name == "zsh" {
					enter("SAVEHIST=9")
				}
				enter("echo sek''rit")
				testserver.WaitScreen(t, srv, "%0", "sekrit")
				if suppress {
					enter("clear")
					testserver.Wait(t, srv, "%0", "clear screen", func() bool {
						return !strings.Contains(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"), "sek")
					})
					enter("history")
					testserver.WaitScreen(t, srv, "%0", "sek''rit")
				}
				enter("exit")
				testserver.Wait(t, srv, "%0", "end of the shell", func() bool { return format(t, srv, "%0", "#{pane_dead}") == "1" })
				var found []string
				filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
					if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "sek''rit") {
						found = append(found, path)
					}
					return nil
				})
				if suppress == (found != nil) {
					t.Errorf("suppressed %t: what was run is kept in %q", suppress, found)
				}
			}
		})
	}
}

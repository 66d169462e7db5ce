package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// TestInAnotherNamespace: an agent in a pane, but in a PID namespace of its own, as in a
// container that shares tmux's socket, cannot know its own pane: it may be any. Nothing is
// looked up under numbers that mean other processes.
func TestInAnotherNamespace(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command(testtool.Path(t, "unshare"), "-rpf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("namespaces cannot be made here: %s", out)
	}
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "exec cat") // %1
	dir := t.TempDir()
	for i, variables := range []string{"", "-u TMUX_PANE", "-u TMUX -u TMUX_PANE", "TMUX= TMUX_PANE="} {
		out := filepath.Join(dir, strings.Repeat("i", i+1))
		call := "env " + variables + " " + program() + " --safety destructive --tmux " + tmux.ShellQuote(srv.Binary()) + " -S " + srv.SocketPath() + " call "
		script := out + ".sh"
		body := "{\n"
		for _, words := range []string{
			`send_keys "{\"pane_id\":\"$OWN\",\"keys\":\"x\"}"`, `clear_pane "{\"pane_id\":\"$OWN\"}"`, `kill_pane "{\"pane_id\":\"$OWN\"}"`,
			`run_command '{"pane_id":"%1","command":"echo x"}'`, "kill_server", "list_panes",
		} {
			if variables == "TMUX= TMUX_PANE=" && words != "list_panes" && !strings.HasPrefix(words, "run_command") { // of another pane, as it is done
				words = `send_keys '{"pane_id":"%1","keys":"typed"}'`
			}
			body += "echo; echo '#'; " + call + words + "\n"
		}
		body += "} >" + out + ".part 2>&1\nmv " + out + ".part " + out + "\n"
		if err := os.WriteFile(script, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		testserver.Run(t, srv, "new-window", "-d", "OWN=$TMUX_PANE unshare -rpf --mount-proc sh "+script+"; exec cat")
		var got string
		testserver.Wait(t, srv, "%0", "the calls", func() bool {
			b, err := os.ReadFile(out)
			got = string(b)
			return err == nil
		})
		want := []string{"refusing to type into pane %", "refusing to change pane %", "refusing to end pane %", "what runs in the pane cannot be seen from here", "refusing to end the tmux server", "a:0.0"}
		if strings.HasPrefix(variables, "TMUX=") {
			want = []string{"Keys sent to pane %1", "Keys sent to pane %1", "Keys sent to pane %1", "what runs in the pane cannot be seen from here", "Keys sent to pane %1", "a:0.0"}
		}
		for n, answer := range strings.Split(got, "\n#\n")[1:] {
			if !strings.Contains(answer, want[n]) || strings.Contains(answer, "caller") {
				t.Errorf("with env %s, call %d answers %s, want %q", variables, n, answer, want[n])
			}
		}
	}
}

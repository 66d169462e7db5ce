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

// TestInTheContainer: a server in the PID namespace of tmux, started from outside as by
// docker exec, sees all its processes, and no pane is the agent's.
func TestInTheContainer(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command(testtool.Path(t, "unshare"), "-rpf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("namespaces cannot be made here: %s", out)
	}
	dir, err := os.MkdirTemp("", "box") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// The first process of the container, which tmux is a child of.
	box := exec.Command("unshare", "-rpf", "--kill-child", "--mount-proc", "sh", "-c", "exec sleep 600")
	if err := box.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { box.Process.Kill(); box.Wait() }()
	var first string
	testtool.Eventually(t, "the container", func() bool {
		inside := children(t, box.Process.Pid)
		if len(inside) == 1 {
			first = inside[0]
		}
		comm, _ := os.ReadFile("/proc/" + first + "/comm")
		return string(comm) == "sleep\n"
	})
	enter := func(words ...string) string {
		t.Helper()
		cmd := exec.Command(testtool.Path(t, "nsenter"), append([]string{"-t", first, "-U", "--preserve-credentials", "-p", "-m"}, words...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "XDG_RUNTIME_DIR=" + dir, "PS1=$ "}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	binary, socket := testserver.Binary(t), filepath.Join(dir, "s")
	enter(binary, "-S", socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "exec sh")
	defer enter(binary, "-S", socket, "kill-server")
	call := []string{program(), "--tmux", binary, "-S", socket, "call"}
	for _, c := range []struct{ tool, args, want string }{
		{"run_command", `{"pane_id":"%0","command":"echo hi; exit 3"}`, "[%0 exit 3"},
		{"send_keys", `{"pane_id":"%0","keys":"true"}`, "Keys sent to pane %0"},
	} {
		if got := enter(append(call, c.tool, c.args)...); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: %s, want %q", c.tool, c.args, got, c.want)
		}
	}
}

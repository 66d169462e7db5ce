package debian

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// rootOf returns the private root that contains a fetched binary.
func rootOf(link string) string {
	binary, err := filepath.EvalSymlinks(link)
	if err != nil {
		panic(err)
	}
	return filepath.Dir(binary)
}

// tryServer runs a server of the binary, with a pane and an attached client, and checks
// that the server has only libraries of its own suite, and the pane none of them.
func tryServer(t *testing.T, binary string) {
	t.Helper()
	root := rootOf(binary)
	foreign := filepath.Join(t.TempDir(), "libevent_core-2.1.so.7")
	writeFile(t, foreign, "no library")
	version := exec.Command(binary, "-V")
	version.Env = append(cleanEnv("dumb"), "LD_LIBRARY_PATH="+filepath.Dir(foreign))
	if out, err := version.CombinedOutput(); err != nil {
		t.Errorf("with LD_LIBRARY_PATH: %v\n%s", err, out)
	}
	socket := filepath.Join(shortDir(t), "s")
	tmux := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, append([]string{"-u", "-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = append(cleanEnv("dumb"), "PS1=it's $ ")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return strings.TrimRight(string(out), "\n")
	}
	server, pane, _ := strings.Cut(tmux("new-session", "-d", "-s", "first", "-x", "200", "-y", "50", "-P", "-F", "#{pid} #{pane_pid}",
		`env; echo ready; read line; echo "got $line"; read line`), " ")
	defer tmux("kill-server")

	screen := waitScreen(t, tmux, "first:", "ready")
	if strings.Contains(screen, root) || strings.Contains(screen, "LD_") || strings.Contains(screen, "TERMINFO") {
		t.Errorf("the pane's environment speaks of the private root:\n%s", screen)
	}
	if !strings.Contains(screen, "PS1=it's $") {
		t.Errorf("the pane's environment has not all that tmux was started with:\n%s", screen)
	}
	if name := tmux("display-message", "-p", "#{window_name} #{pane_current_command}"); strings.Contains(name, "ld-") {
		t.Errorf("window and command are named %q", name)
	}
	tmux("send-keys", "täg", "Enter")
	waitScreen(t, tmux, "first:", "got täg")

	for _, file := range libraryFiles(t, server) {
		if !strings.HasPrefix(file, root) {
			t.Errorf("the server uses %s of the machine", file)
		}
	}
	for _, file := range libraryFiles(t, pane) {
		if strings.HasPrefix(file, root) {
			t.Errorf("the pane uses %s of the private root", file)
		}
	}
	if line, err := os.ReadFile("/proc/" + server + "/cmdline"); err != nil || !strings.HasPrefix(string(line), "tmux\x00") {
		t.Errorf("the server's command line is %q (%v)", line, err)
	}
	for _, term := range []string{"xterm-256color", "tmux-256color", "screen"}[:testtool.Size(1, 3)] {
		tryAttach(t, tmux, binary, socket, term)
	}
}

// tryAttach attaches a client, in a pane of another session, on a terminal of the given
// kind, whose description the suite's libtinfo must find on this machine.
func tryAttach(t *testing.T, tmux func(...string) string, binary, socket, term string) {
	t.Helper()
	if found, _ := filepath.Glob("/*/terminfo/*/" + term); len(found) == 0 {
		if found, _ = filepath.Glob("/usr/share/terminfo/*/" + term); len(found) == 0 {
			t.Logf("no client attached: this machine has no terminal description for %s", term)
			return
		}
	}
	tmux("new-session", "-d", "-s", term, "-e", "BINARY="+binary, "-e", "SOCKET="+socket, "-e", "CLIENT="+term,
		`unset TMUX; TERM=$CLIENT "$BINARY" -u -S "$SOCKET" attach-session -t first; echo "ended: $?"; read line`)
	defer tmux("kill-session", "-t", term)
	testtool.Eventually(t, "a client on a "+term, func() bool { return tmux("list-clients", "-F", "#{client_termname}") == term })
	tmux("detach-client", "-s", "first")
	if screen := waitScreen(t, tmux, term+":", "ended:"); !strings.Contains(screen, "ended: 0") {
		t.Errorf("attach on a %s:\n%s", term, screen)
	}
}

func cleanEnv(term string) []string {
	return []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "SHELL=/bin/sh", "TERM=" + term}
}

// waitScreen polls a pane until it shows a text.
func waitScreen(t *testing.T, tmux func(...string) string, pane, text string) string {
	t.Helper()
	var screen string
	testtool.Eventually(t, text+" on the screen", func() bool {
		screen = tmux("capture-pane", "-p", "-t", pane)
		return strings.Contains(screen, text)
	})
	return screen
}

// libraryFiles returns the code files that a process has mapped.
func libraryFiles(t *testing.T, pid string) []string {
	t.Helper()
	maps, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for line := range strings.Lines(string(maps)) {
		if at := strings.Index(line, "/"); at >= 0 && strings.Contains(strings.Fields(line)[1], "x") {
			files = append(files, strings.TrimSpace(line[at:]))
		}
	}
	if len(files) < 2 {
		t.Fatalf("process %s maps a program and no library:\n%s", pid, maps)
	}
	return files
}

// shortDir returns a temporary directory whose path leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

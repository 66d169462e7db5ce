package server_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// TestADaemonHasNoPane: a client's daemon keeps the variables of the pane in which it was
// first started. What it starts no longer trusts them, and asks before it acts on a pane in
// which the client runs.
func TestADaemonHasNoPane(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks for the programs of other processes in /proc")
	}
	busybox := testtool.Path(t, "busybox")
	binary, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	agent := filepath.Join(dir, "busybox-agent") // busybox goes by its name
	if err := testtool.WriteProgram(agent, binary); err != nil {
		t.Fatal(err)
	}
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", agent+" sh -c 'while :; do "+agent+" sleep 1000; done'; :") // %1, below its shell
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "exec cat")                                                 // %2
	out := filepath.Join(dir, "out")
	call := program() + " --safety destructive --tmux " + srv.Binary() + " call "
	script := filepath.Join(dir, "daemon")
	body := "while [ ! -e " + filepath.Join(dir, "go") + " ]; do sleep 0.05; done\n{\n" +
		call + "list_panes\n" + call + `kill_pane '{"pane_id":"%1"}'` + "\n" + call + `send_keys '{"pane_id":"%1","keys":"x"}'` + "\n" + call + `kill_pane '{"pane_id":"%2"}'` + "\n" +
		call + "kill_server\n} >" + out + ".part 2>&1\nmv " + out + ".part " + out + "\n"
	if err := os.WriteFile(script, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	// The daemon starts in a pane of its own, %3, which then ends.
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "setsid "+agent+" sh "+script+" </dev/null >/dev/null 2>&1 & sleep 0.2")
	testserver.Wait(t, srv, "%0", "the end of the daemon's pane", func() bool {
		return !strings.Contains(testserver.Run(t, srv, "list-panes", "-a", "-F", "#{pane_id}"), "%3")
	})
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got string
	testserver.Wait(t, srv, "%0", "the daemon's calls", func() bool {
		b, err := os.ReadFile(out)
		got = string(b)
		return err == nil
	})
	for _, want := range []string{
		"refusing to end pane %1, which runs busybox-agent as this agent does, whose own pane is not known",
		"refusing to type into pane %1, which runs busybox-agent", "Pane killed: %2",
		"refusing to end the tmux server of pane %1, which runs busybox-agent as this agent does",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the calls do not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "caller") {
		t.Errorf("a pane is taken for the caller's:\n%s", got)
	}
}

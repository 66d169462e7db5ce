package endtoend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testssh"
	"tmuxmcp/internal/test/testtool"
)

// A peer is a plain MCP client of a command, such as ssh, that answers no question.
type peer struct {
	*testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	diag bytes.Buffer
	id   int
}

// dial starts a command and shakes hands with the MCP server behind it.
func dial(t *testing.T, words ...string) *peer {
	t.Helper()
	p := &peer{T: t, cmd: exec.Command(words[0], words[1:]...)}
	p.cmd.Stderr = &p.diag
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	t.Cleanup(p.close)
	p.say("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	return p
}

func (p *peer) close() {
	p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
}

// say sends a request without waiting.
func (p *peer) say(method, params string) {
	p.id++
	_, _ = fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.id, method, params)
}

// first returns the first line that the server writes, and how the command has ended if
// there is none.
func (p *peer) first() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		return strings.TrimSpace(p.diag.String())
	}
	return line
}

// call returns a tool's text.
func (p *peer) call(tool, args string) string {
	p.Helper()
	p.say("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			p.Fatalf("%s %s: %v\n%s", tool, args, err, &p.diag)
		}
		var m struct {
			ID     int
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			p.Fatalf("not JSON: %s", line)
		}
		if m.ID == p.id && len(m.Result.Content) > 0 {
			return m.Result.Content[0].Text
		}
	}
}

// documented returns the matches of a pattern in docs/questions.md with their submatches. It
// ends the test if there are none.
func documented(t *testing.T, pattern string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../docs/questions.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
	if found == nil {
		t.Fatalf("docs/questions.md has no %s", pattern)
	}
	return found
}

// newHost returns another machine with tmux-mcp where the documentation has it, with its
// ssh first on PATH.
func newHost(t *testing.T) *testssh.Host {
	t.Helper()
	dir, err := os.MkdirTemp("", "ssh") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := testssh.New(t, dir)
	binary, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	h.Install("tmux-mcp", binary)
	h.Tmux()
	t.Setenv("PATH", h.Bin+":"+os.Getenv("PATH"))
	t.Setenv("SSH_AUTH_SOCK", "")
	return h
}

// TestOverSSH plays what docs/questions.md says of tmux on another machine.
func TestOverSSH(t *testing.T) {
	if !testtool.Full {
		t.Skip("builds tmux-mcp and runs an sshd: see " + testtool.FullSize)
	}
	h := newHost(t)
	// The first is the one of claude.
	line := strings.Fields(documented(t, `(?m)^    claude mcp add .* -- (ssh .*)$`)[0][1])
	server := line[len(line)-1]
	before := slices.Clip(line[:len(line)-1])

	t.Run("everything works", func(t *testing.T) {
		p := dial(t, line...)
		if got := p.call("list_panes", "{}"); !strings.Contains(got, "%0\twork:0.0") {
			t.Errorf("list_panes: %s", got)
		}
		if got := p.call("run_command", `{"pane_id":"%0","command":"echo $SSH_CONNECTION here; exit 3"}`); !strings.HasPrefix(got, "[%0 exit 3") || !strings.HasSuffix(got, " here") {
			t.Errorf("run_command: %s", got)
		}
		// The agent runs in no pane of that machine, so nobody is asked.
		if got := p.call("send_keys", `{"pane_id":"%0","keys":"true"}`); !strings.Contains(got, "Keys sent to pane %0") {
			t.Errorf("send_keys: %s", got)
		}
		p.call("send_keys", `{"pane_id":"%0","keys":"C-u"}`)

		// An update does nothing to a server that runs.
		path := filepath.Join(h.Home, server)
		binary, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if got := p.call("run_command", `{"pane_id":"%0","command":"echo whole"}`); !strings.HasSuffix(got, "\nwhole") {
				t.Errorf("without its file: %s", got)
			}
			h.Install(filepath.Base(server), binary)
		}
	})

	t.Run("the variables of the client's own pane", func(t *testing.T) {
		t.Setenv("TMUX", "/tmp/elsewhere,1,0")
		t.Setenv("TMUX_PANE", "%0")
		if got := dial(t, line...).call("list_panes", "{}"); strings.Contains(got, "caller") {
			t.Errorf("list_panes: %s", got)
		}
	})

	t.Run("doctor", func(t *testing.T) {
		doctor := documented(t, "`(ssh [^`]* doctor)`")[0][1]
		out, err := exec.Command("sh", "-c", doctor).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("no problems found")) || !bytes.Contains(out, []byte("outside tmux")) {
			t.Errorf("%s: %v\n%s", doctor, err, out)
		}
	})

	said := func(t *testing.T, want string, words ...string) {
		t.Helper()
		documented(t, regexp.QuoteMeta(want))
		if got := dial(t, words...).first(); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	t.Run("a program without its path", func(t *testing.T) {
		said(t, "not found", append(before, filepath.Base(server))...)
	})
	t.Run("a host that is not known", func(t *testing.T) {
		said(t, "Host key verification failed", append([]string{"ssh", "-o", "UserKnownHostsFile=/dev/null"}, line[1:]...)...)
	})
	t.Run("nobody listens", func(t *testing.T) {
		said(t, "Connection refused", append([]string{"ssh", "-o", "Port=1"}, line[1:]...)...)
	})

	t.Run("a start-up file that prints", func(t *testing.T) {
		for _, file := range []string{".bashrc", ".zshenv"} { // what the user's shell reads, if it is one of these
			path := filepath.Join(h.Home, file)
			if err := os.WriteFile(path, []byte("echo Welcome\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(path)
		}
		if !strings.HasPrefix(h.Run("true"), "Welcome") {
			t.Skip("the user's shell reads neither file")
		}
		if got := dial(t, line...).first(); got != "Welcome\n" {
			t.Errorf("the client reads %q first", got)
		}
		out, _ := exec.Command("sh", "-c", strings.Join(line, " ")+" doctor").Output()
		if !bytes.HasPrefix(out, []byte("Welcome\n")) {
			t.Errorf("doctor does not show it: %s", out)
		}
	})

	t.Run("a key that is only in an SSH agent", func(t *testing.T) {
		hidden := h.Key + ".hidden" // where ssh does not look
		if err := os.Rename(h.Key, hidden); err != nil {
			t.Fatal(err)
		}
		defer os.Rename(hidden, h.Key)
		said(t, "Permission denied (publickey)", line...)
		socket := filepath.Join(filepath.Dir(h.Key), "agent")
		agent := exec.Command(testtool.Path(t, "ssh-agent"), "-D", "-a", socket)
		if err := agent.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { agent.Process.Kill(); agent.Wait() }()
		testtool.Eventually(t, "the agent", func() bool { _, err := os.Stat(socket); return err == nil })
		add := exec.Command(testtool.Path(t, "ssh-add"), "-q", hidden)
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
		if out, err := add.CombinedOutput(); err != nil {
			t.Fatalf("ssh-add: %v\n%s", err, out)
		}
		// As for a client that passes no variable on.
		said(t, "Permission denied (publickey)", line...)
		documented(t, "IdentityAgent")
		named := append([]string{"ssh", "-o", "IdentityAgent=" + socket}, line[1:]...)
		if got := dial(t, named...).call("list_panes", "{}"); !strings.Contains(got, "work:0.0") {
			t.Errorf("list_panes: %s", got)
		}
	})

	t.Run("the connection breaks", func(t *testing.T) { breaks(t, h, line) })

	t.Run("one connection for all", func(t *testing.T) {
		var lines string
		for _, l := range documented(t, `(?m)^ +(Control.*)$`) {
			lines += "\t" + strings.Replace(l[1], "~/.ssh", filepath.Dir(h.Key), 1) + "\n"
		}
		h.Configure(lines)
		first := dial(t, line...)
		second := dial(t, line...)
		testtool.Eventually(t, "both are there", func() bool { return len(h.Processes("tmux-mcp")) == 2 })
		if got := second.call("list_panes", "{}"); !strings.Contains(got, "work:0.0") {
			t.Errorf("list_panes: %s", got)
		}
		// The first client opened the connection, and its end is not the end of the others'.
		first.cmd.Process.Kill()
		testtool.Eventually(t, "one is left", func() bool { return len(h.Processes("tmux-mcp")) == 1 })
		if got := second.call("list_panes", "{}"); !strings.Contains(got, "work:0.0") {
			t.Errorf("list_panes: %s", got)
		}
		if out, err := exec.Command("ssh", "-O", "exit", testssh.Name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// breaks breaks a connection while a command runs: the command goes on, and the next
// connection finds it as a job. Nothing else is left.
func breaks(t *testing.T, h *testssh.Host, line []string) {
	open := filepath.Join(h.Home, "open")
	rounds := []string{"at once", "when the server has ended"}
	if os.Getenv("MCP_CLIENTS_BIN") == "" {
		rounds = rounds[:1] // the second waits for the server
	}
	for i, after := range rounds {
		p := dial(t, line...)
		command := fmt.Sprintf("echo begun %d; until test -e %s; do sleep 0.1; done; sleep 1; echo ended %[1]d", i, open)
		p.say("tools/call", fmt.Sprintf(`{"name":"run_command","arguments":{"pane_id":"%%0","command":%q,"timeout":60}}`, command))
		testtool.Eventually(t, "the command runs", func() bool {
			return strings.Contains(h.Run("tmux capture-pane -p -t %0"), fmt.Sprintf("\nbegun %d", i))
		})
		p.cmd.Process.Kill()
		gone := func() bool { return len(h.Processes("tmux-mcp")) == 0 }
		if i > 0 {
			testtool.Eventually(t, "nothing of it is left", gone)
		}
		if err := os.WriteFile(open, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		testtool.Eventually(t, "nothing of it is left", gone)
		again := dial(t, line...)
		job := regexp.MustCompile(fmt.Sprintf(`(?m)^(j\w+)\t.*echo begun %d`, i)).FindStringSubmatch(again.call("list_jobs", "{}"))
		if job == nil {
			t.Fatalf("%s, there is no job: %s", after, again.call("list_jobs", "{}"))
		}
		got := again.call("get_job", fmt.Sprintf(`{"job_id":%q,"timeout":60}`, job[1]))
		if want := fmt.Sprintf("begun %d\nended %[1]d", i); !strings.HasPrefix(got, "[%0 exit 0") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", after, got)
		}
		again.close()
		os.Remove(open)
	}
}

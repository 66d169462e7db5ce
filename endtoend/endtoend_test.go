package endtoend

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// recordTo is the variable with the directory in which this binary, run as a server,
// records what the server and its client say.
const recordTo = "ENDTOEND_RECORD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(recordTo); dir != "" {
		os.Exit(between(dir, os.Args[1:]))
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// said is a line of a record.
type said struct {
	Server  bool            `json:"server"` // said by the server
	Message json.RawMessage `json:"message"`
}

// record is what a server and its client say.
type record struct {
	mu   sync.Mutex
	file *os.File
}

func newRecord(dir string) (*record, error) {
	f, err := os.CreateTemp(dir, "*.jsonl")
	return &record{file: f}, err
}

func (r *record) write(server bool, line []byte) {
	raw, err := json.Marshal(said{server, line})
	if err != nil { // not JSON
		raw, _ = json.Marshal(said{Server: server})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.Write(append(raw, '\n'))
}

// between runs a command between its own standard input and output, and records what passes
// through.
func between(dir string, command []string) int {
	r, err := newRecord(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	through := func(from io.Reader, to io.WriteCloser, server bool) {
		defer to.Close()
		for lines := bufio.NewReader(from); ; {
			line, err := lines.ReadBytes('\n')
			if len(line) > 1 {
				r.write(server, line)
				if _, err := to.Write(line); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		return 1
	}
	go through(os.Stdin, in, false)
	through(out, os.Stdout, true)
	cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

var built struct {
	sync.Once
	dir string
	err error
}

// program returns the path of tmux-mcp, built once.
func program(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "endtoend"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", built.dir, "../cmd/tmux-mcp").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "tmux-mcp")
}

// npm returns the directory of an npm package's modules installed by .ci/clients.
func npm(t testing.TB, name string) string {
	t.Helper()
	bin := os.Getenv("MCP_CLIENTS_BIN")
	if bin == "" {
		t.Skip("MCP_CLIENTS_BIN names no directory with npm packages; .ci/clients installs them and runs this test")
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(bin, name))
	if err != nil {
		testtool.Missing(t, "%s is not installed: %v", name, err)
	}
	return dir
}

// node returns a node that is new enough for what [npm] returns.
func node(t testing.TB) string {
	t.Helper()
	if path := filepath.Join(os.Getenv("MCP_CLIENTS_BIN"), "node"); os.Getenv("MCP_CLIENTS_BIN") != "" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return testtool.Path(t, "node")
}

// stage is a tmux server with a pane, %0, and a directory for records.
type stage struct {
	testing.TB
	tmux    *tmux.Server
	records string
	server  []string // the command of tmux-mcp
	env     []string // for the server
}

func newStage(t testing.TB) *stage {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the caller's pane is found in /proc")
	}
	s := &stage{TB: t, tmux: testserver.New(t), records: t.TempDir()}
	testserver.Run(t, s.tmux, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", "exec cat")
	s.server = []string{program(t), "-S", s.tmux.SocketPath(), "--tmux", s.tmux.Binary(), "--safety", "destructive", "--results", "json"}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "XDG_RUNTIME_DIR=" + t.TempDir()}
	return s
}

// inPane runs a client in a separate pane, with the server's command after its own
// arguments, and returns its output.
func (s *stage) inPane(client ...string) string {
	s.Helper()
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	command := append(append(client, self), s.server...)
	out := filepath.Join(s.TempDir(), "out")
	words := append([]string{"env", recordTo + "=" + s.records}, s.env...)
	words = append(words, command...)
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	script := strings.Join(words, " ") + " >" + out + " 2>" + out + ".err; echo $? >" + out + ".rc; " + s.tmux.Binary() + " -S " + s.tmux.SocketPath() + " wait-for -S done"
	testserver.Run(s, s.tmux, "new-window", "-d", "-t", "a:", script)
	testserver.Run(s, s.tmux, "wait-for", "done")
	text, _ := os.ReadFile(out)
	if rc, _ := os.ReadFile(out + ".rc"); string(rc) != "0\n" {
		complaint, _ := os.ReadFile(out + ".err")
		s.Fatalf("%s ended with %s%s%s", command, rc, text, complaint)
	}
	return string(text)
}

package clients

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/internal/test/testtool"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"odd-mcp": oddServer})
}

// oddServer has a tool with a schema that some clients reject.
func oddServer() {
	s := server.NewMCPServer("odd", "1.0")
	s.AddTool(mcp.NewToolWithRawSchema("odd", "", []byte(`{"type": "object", "properties": {"a": true}}`)), nil)
	_ = server.NewStdioServer(s).Listen(context.Background(), os.Stdin, os.Stdout)
}

// repo is the root of this checkout.
const repo = "../.."

const (
	// tries is how often a client is asked before its answer counts.
	tries = 3
	// patience bounds any run of a client except a query, which has its own limit.
	patience = 2 * time.Minute
)

// A home is a temporary directory in which the client and everything else in the test run:
// the environment of a process has nothing of the user's except a PATH and Go's caches.
type home struct {
	*testing.T
	program string // of the client
	dir     string
}

// clientsDir is the directory with the clients.
func clientsDir(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("MCP_CLIENTS_BIN")
	if bin == "" {
		t.Skip("MCP_CLIENTS_BIN names no directory with agent CLIs; .ci/clients installs them and runs this test")
	}
	return bin
}

// newHome creates a home for a client, or skips the test if that is not installed.
func newHome(t *testing.T, program string) *home {
	t.Helper()
	bin := clientsDir(t)
	if _, err := exec.LookPath(filepath.Join(bin, program)); err != nil {
		t.Skipf("%s is not installed: %v", program, err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("what a client leaves running is found in /proc")
	}
	// Not t.TempDir: the path of a socket must be short.
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	h := &home{T: t, program: program, dir: dir}
	t.Cleanup(h.remove)
	env := []string{"HOME=" + dir, "TMPDIR=" + dir + "/tmp", "XDG_RUNTIME_DIR=" + dir + "/runtime", "PATH=" + bin + ":" + os.Getenv("PATH"),
		"TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh", "PS1=$ ",
		// Nothing listens there: only loopback can be reached.
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost"}
	env = append(env, goEnv(t)...)
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !regexp.MustCompile(`^(MCP_CLIENTS_|MODEL_|PROMPTS|TMUX_TEST_)`).MatchString(name) {
			t.Setenv(name, "") // restored at the end
			os.Unsetenv(name)
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	for _, name := range []string{"tmp", "runtime"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// goEnv returns what go knows from the real home.
func goEnv(t *testing.T) (env []string) {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "GOPROXY"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	for i, value := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		env = append(env, names[i]+"="+value)
	}
	return env
}

// remove ends every process with this home, daemons included, and removes it.
func (h *home) remove() {
	if filepath.Dir(h.dir) == "/" || !strings.HasPrefix(filepath.Base(h.dir), "agent") {
		h.Fatalf("not a temporary home: %q", h.dir)
	}
	testtool.Eventually(h, "the end of all processes of the home", func() bool {
		left := h.processes()
		for pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		return len(left) == 0
	})
	if err := os.RemoveAll(h.dir); err != nil {
		h.Error(err)
	}
}

// processes returns the processes that have this home in their environment, with their
// command lines.
func (h *home) processes() map[int]string {
	found := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		var pid int
		env, err := os.ReadFile(name)
		if _, bad := fmt.Sscanf(name, "/proc/%d/", &pid); err == nil && bad == nil && pid != os.Getpid() && bytes.Contains(env, []byte(h.dir)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

// write writes a file below the home.
func (h *home) write(name, text string) {
	h.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// writeProgram writes a program into the home.
func (h *home) writeProgram(name, text string) {
	h.Helper()
	if err := testtool.WriteProgram(filepath.Join(h.dir, name), []byte(text)); err != nil {
		h.Fatal(err)
	}
}

// read returns a file of the home, empty if there is none.
func (h *home) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(h.dir, name))
	return string(text)
}

// try runs the client in a directory, and kills it and everything it started when its time
// is up.
func (h *home) try(dir string, args ...string) (string, error) {
	limit, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(limit, h.program, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+\S*`)

// version returns the client's version, as the client reports it.
func (h *home) version() string {
	h.Helper()
	out, err := h.try(h.dir, "--version")
	number := versionNumber.FindString(out)
	if err != nil || number == "" {
		h.Fatalf("%s --version: %v\n%s", h.program, err, out)
	}
	return number
}

// report writes a result to the log and, for .ci/clients, to its report.
func report(t *testing.T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	t.Log(line)
	name := os.Getenv("MCP_CLIENTS_REPORT")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Error(err)
	}
}

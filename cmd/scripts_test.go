// Package cmd runs the scripts under testdata, and what the README shows, against the
// commands of this module, which are built into the test binary.
package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform"
	conformcli "tmuxmcp/conform/cli"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
	servercli "tmuxmcp/server/cli"
	swapcli "tmuxmcp/swap/cli"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/journal"
)

// programs are the programs of the module, without their processes.
var programs = map[string]func(args []string, stdin io.Reader, stdout, stderr io.Writer) int{
	"mcp-conform": func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(args) > 0 && args[0] == conform.ServerArg {
			return servercli.Main(args[1:], stdin, stdout, stderr, nil)
		}
		return conformcli.Main(args, stdin, stdout, stderr)
	},
	"mcp-swap": swapcli.Main,
	"tmux-mcp": func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return servercli.Main(args, stdin, stdout, stderr, swapcli.Setup)
	},
}

// commands are what a script can run: the programs of the module, and servers
// for them to start.
var commands = map[string]func(){
	"mcp-conform": program(programs["mcp-conform"]),
	"mcp-swap":    program(programs["mcp-swap"]),
	"tmux-mcp":    program(programs["tmux-mcp"]),

	"good-mcp": goodServer,
	"uv":       goodServer, // on PATH of scripts, on any machine
	"bad-mcp": func() {
		for i := range 30 {
			fmt.Fprintf(os.Stderr, "bad-mcp: reason %d\n", i)
		}
		os.Exit(3)
	},
}

// goodServer is an MCP server that leaves a note with its environment.
func goodServer() {
	if note := os.Getenv("NOTE"); note != "" {
		text := strings.Join(os.Environ(), "\n")
		if err := os.WriteFile(note, []byte(text+"\n"), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	s := server.NewMCPServer("good", "1.0")
	_ = server.NewStdioServer(s).Listen(context.Background(), os.Stdin, os.Stdout)
}

func TestMain(m *testing.M) { testscript.Main(waiting{m}, commands) }

// help returns what a program prints for its help, and its exit status.
func help(words ...string) (printed string, code int) {
	var out bytes.Buffer
	code = programs[words[0]](words[1:], strings.NewReader(""), &out, &out)
	return out.String(), code
}

// waiting are tests that mostly wait for the commands they run.
type waiting struct{ *testing.M }

func (w waiting) Run() int {
	testtool.Parallel(4)
	return w.M.Run()
}

func TestScripts(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	// In a test of its own: most scripts need none.
	t.Run("tmux", func(t *testing.T) { testtmux.Binary(t) })
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { runScripts(t, dir) })
	}
}

// runScripts runs the scripts of a directory.
func runScripts(t *testing.T, dir string) {
	root := testtool.MemoryDir(t)
	web := httptest.NewServer(webServer())
	t.Cleanup(web.Close)
	path := withoutClients(t, os.Getenv("PATH"))
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		WorkdirRoot:         root,
		Deadline:            time.Now().Add(5 * time.Minute),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", path)
			env.Setenv("UID", strconv.Itoa(os.Getuid()))
			env.Setenv("LANG", "C.UTF-8")
			env.Setenv("WEB", web.URL)
			env.Setenv("WEB_MCP", web.URL+"/mcp")
			env.Setenv("GOCACHE", goCache())
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			err := testTmux(env)
			env.Values[atFirst{}] = slices.Clone(env.Vars)
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "full": // what is omitted in everyday runs: see testtool.FullSize
				return testtool.Full, nil
			case "mount":
				return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", root).Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"chomp":    chomp,
			"expand":   expand,
			"leftover": leftover,
			"rmglob":   rmglob,
			"run":      workers(t, dir),
		},
	})
}

// webServer is an MCP server at /mcp, and at /any under any name of this machine. At /login
// it wants a header, and at /forbidden it answers nobody.
func webServer() http.Handler {
	mcp := server.NewStreamableHTTPServer(server.NewMCPServer("web", "1.0"))
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp)
	mux.HandleFunc("/any", func(w http.ResponseWriter, r *http.Request) {
		r.Host = "localhost"
		mcp.ServeHTTP(w, r)
	})
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	})
	mux.HandleFunc("/forbidden", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	mux.Handle("/away", http.RedirectHandler("http://0.0.0.0:1/mcp?key=CANARY", http.StatusTemporaryRedirect))
	return mux
}

// goCache is Go's own build cache: in an empty one a build takes as long as all other
// scripts together.
var goCache = sync.OnceValue(func() string {
	out, _ := exec.Command("go", "env", "GOCACHE").Output()
	return strings.TrimSpace(string(out))
})

// chomp takes the final newline off files, which an archive cannot hold without.
func chomp(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		b, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, bytes.TrimSuffix(b, []byte("\n")), 0o600))
	}
}

// leftover succeeds if mcp-swap has left a backup, a temporary file, a record of a
// swap that was not reverted, or a lock of another program under HOME; scripts say
// "! leftover".
func leftover(ts *testscript.TestScript, neg bool, args []string) {
	var found []string
	ts.Check(filepath.WalkDir(ts.Getenv("HOME"), func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if strings.Contains(name, ".bak.mcp-swap-") || strings.Contains(name, "mcp-swap-tmp") || strings.HasSuffix(name, ".lock") {
			found = append(found, path)
		}
		if name == "state.json" {
			st, err := journal.Journal{Dir: filepath.Dir(path), Home: ts.Getenv("HOME")}.Load()
			if err != nil || len(st.Records) > 0 {
				found = append(found, path)
			}
		}
		return err
	}))
	if neg && len(found) > 0 {
		ts.Fatalf("left over: %s", strings.Join(found, ", "))
	}
	if !neg && len(found) == 0 {
		ts.Fatalf("nothing was left over")
	}
}

// expand copies a file, with $WORK filled in.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b = bytes.ReplaceAll(b, []byte("$WORK"), []byte(ts.Getenv("WORK")))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
}

// rmglob removes the files that a pattern matches, at least one.
func rmglob(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("nothing matches %s", args[0])
	}
	for _, name := range names {
		ts.Check(os.Remove(name))
	}
}

// withoutClients returns a PATH without the agent clients of this machine: a directory that
// has one is replaced by links to the other programs in it.
func withoutClients(t *testing.T, path string) string {
	t.Helper()
	var names []string
	for _, c := range clients.All() {
		names = append(names, c.Binaries...)
	}
	dirs := filepath.SplitList(path)
	for i, dir := range dirs {
		if !slices.ContainsFunc(names, func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }) {
			continue
		}
		dirs[i] = t.TempDir()
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if slices.Contains(names, f.Name()) {
				continue
			}
			if err := os.Symlink(filepath.Join(dir, f.Name()), filepath.Join(dirs[i], f.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator))
}

// testTmux makes the tmux of the tests the one on the script's PATH.
func testTmux(env *testscript.Env) error {
	binary, err := testtmux.Find()
	if err != nil {
		return nil
	}
	if path, err := exec.LookPath("tmux"); err == nil && path == binary {
		return nil
	}
	dir := filepath.Join(env.WorkDir, "test-tmux")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
	return os.Symlink(binary, filepath.Join(dir, "tmux"))
}

// TestScriptsSeeNoClients: scripts bring the agent clients that they need.
func TestScriptsSeeNoClients(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"claude", "codex", "node"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dirs := filepath.SplitList(withoutClients(t, dir+string(os.PathListSeparator)+other))
	if len(dirs) != 2 || dirs[1] != other {
		t.Fatalf("the PATH is %q", dirs)
	}
	if found, err := filepath.Glob(filepath.Join(dirs[0], "*")); err != nil || len(found) != 1 || filepath.Base(found[0]) != "node" {
		t.Errorf("scripts see %q, %v", found, err)
	}
}

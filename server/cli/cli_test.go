package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/cli"
	"tmuxmcp/tmux"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tmux-mcp": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil)) },
	})
}

// TestScripts plays the scripts of testdata, each with a tmux server of its own at $SOCKET
// that does not run yet. Their commands are testscript's and
//
//	tmux COMMAND...             run tmux
//	status CODE STDERR ARGS...  run tmux-mcp, which exits with a code other than 0
//	json PATH VALUE             what standard output has at a path of gjson
//	wait-file FILE              wait until there is one
//	wait-shows PANE TEXT        wait until the screen of a pane has a text
//	shows FILE                  standard output has the text of a file
//	doc-block FIRST FILE        write the block of docs/agents.md that begins with a line to a file
//	exposed                     TMUX_TMPDIR has a directory of sockets that others may read
func TestScripts(t *testing.T) {
	t.Parallel()
	type (
		key  struct{}
		test struct{}
	)
	of := func(ts *testscript.TestScript) testing.TB { return ts.Value(test{}).(testing.TB) }
	server := func(ts *testscript.TestScript) *tmux.Server { return ts.Value(key{}).(*tmux.Server) }
	testscript.Run(t, testscript.Params{
		Dir: "testdata", WorkdirRoot: t.TempDir(), ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			tb := env.T().(testing.TB)
			srv := testserver.New(tb)
			v, err := srv.Version(testserver.Context(tb))
			env.Values[key{}], env.Values[test{}] = srv, tb
			for _, name := range []string{"TMUX", "TMUX_PANE"} {
				env.Setenv(name, "")
			}
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("SHELL", "/bin/sh")
			env.Setenv("SOCKET", srv.SocketPath())
			env.Setenv("TMUX_BINARY", srv.Binary())
			env.Setenv("TMUX_VERSION", v.String())
			return errors.Join(err, os.Mkdir(env.Getenv("HOME"), 0o700))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tmux": func(ts *testscript.TestScript, _ bool, args []string) {
				out, err := server(ts).Do(testserver.Context(of(ts)), tmux.Raw{Name: args[0], Args: args[1:]})
				ts.Check(err)
				ts.Stdout().Write(out[0])
			},
			"status": status,
			"json": func(ts *testscript.TestScript, _ bool, args []string) {
				got := gjson.Get(ts.ReadFile("stdout"), args[0])
				if text := got.String(); text != args[1] && (got.Exists() || args[1] != "missing") {
					ts.Fatalf("%s is %q", args[0], text)
				}
			},
			"wait-file": func(ts *testscript.TestScript, _ bool, args []string) {
				testserver.Wait(of(ts), server(ts), "", args[0], func() bool {
					_, err := os.Stat(ts.MkAbs(args[0]))
					return err == nil
				})
			},
			"wait-shows": func(ts *testscript.TestScript, _ bool, args []string) {
				testserver.WaitScreen(of(ts), server(ts), args[0], args[1])
			},
			"shows": func(ts *testscript.TestScript, _ bool, args []string) {
				if got, want := ts.ReadFile("stdout"), ts.ReadFile(args[0]); !strings.Contains(got, want) {
					ts.Fatalf("standard output is\n%s\nwithout\n%s", got, want)
				}
			},
			"doc-block": func(ts *testscript.TestScript, _ bool, args []string) {
				text, err := os.ReadFile("../../docs/agents.md")
				ts.Check(err)
				_, block, found := strings.Cut(string(text), "\n    "+args[0]+"\n")
				if !found {
					ts.Fatalf("docs/agents.md has no block %q", args[0])
				}
				lines := args[0] + "\n"
				for line := range strings.Lines(block) {
					rest, in := strings.CutPrefix(line, "    ")
					if !in && line != "\n" {
						break
					}
					lines += rest
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.TrimRight(lines, "\n")+"\n"), 0o600))
			},
			"exposed": func(ts *testscript.TestScript, _ bool, _ []string) {
				dir := ts.MkAbs(fmt.Sprintf("sockets/tmux-%d", os.Getuid()))
				ts.Setenv("TMUX_TMPDIR", filepath.Dir(dir))
				ts.Check(errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "work"), nil, 0o600)))
			},
		},
	})
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("tmux-mcp", args[2:]...)
	fmt.Fprint(ts.Stdout(), ts.ReadFile("stdout"))
	if want := "exit status " + args[0]; err == nil || err.Error() != want {
		ts.Fatalf("%v, want %s", err, want)
	}
	if text := ts.ReadFile("stderr"); !regexp.MustCompile(args[1]).MatchString(text) || args[1] == "" && text != "" {
		ts.Fatalf("standard error is %q", text)
	}
}

// TestAReaderThatHasSeenEnough: as head does.
func TestAReaderThatHasSeenEnough(t *testing.T) {
	srv := testserver.New(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	if cli.Main([]string{"-S", srv.SocketPath(), "--tmux", srv.Binary(), "tools"}, strings.NewReader(""), w, &errs, nil); errs.Len() > 0 {
		t.Errorf("it complains: %s", errs.String())
	}
}

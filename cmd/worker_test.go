package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A worker is a process of a program that does what many processes would, one after the other:
// a start takes longer than most of what the scripts have a program do. It gets a call as a
// line of JSON, and answers with another.
type worker struct {
	*json.Encoder
	*json.Decoder
}

type call struct {
	Args, Env []string
	Dir       string
}

type outcome struct {
	Stdout, Stderr string
	Code           int
}

// workerArg makes a program a worker.
const workerArg = "do-many"

// program is a command for scripts, which may also be started as a worker.
func program(main func(args []string, stdin io.Reader, stdout, stderr io.Writer) int) func() {
	return func() {
		if len(os.Args) != 2 || os.Args[1] != workerArg {
			os.Exit(main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		}
		w := worker{json.NewEncoder(os.Stdout), json.NewDecoder(os.Stdin)}
		for c := (call{}); w.Decode(&c) == nil; c = (call{}) {
			os.Clearenv()
			for _, kv := range c.Env {
				name, value, _ := strings.Cut(kv, "=")
				_ = os.Setenv(name, value)
			}
			if err := os.Chdir(c.Dir); err != nil {
				panic(err)
			}
			var stdout, stderr bytes.Buffer
			code := main(c.Args, strings.NewReader(""), &stdout, &stderr)
			_ = w.Encode(outcome{stdout.String(), stderr.String(), code})
		}
	}
}

// workers returns the command "run PROGRAM [ARGS]" for the scripts of a directory, which is
// as exec is, but with a worker and no input.
func workers(t *testing.T, dir string) func(*testscript.TestScript, bool, []string) {
	var mu sync.Mutex
	idle := map[string][]worker{}
	start := func(name string) (worker, error) {
		mu.Lock()
		defer mu.Unlock()
		if n := len(idle[name]); n > 0 {
			w := idle[name][n-1]
			idle[name] = idle[name][:n-1]
			return w, nil
		}
		cmd := exec.Command(name, workerArg)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if err := cmp.Or(err, outErr, cmd.Start()); err != nil {
			return worker{}, err
		}
		t.Cleanup(func() {
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("worker %s: %v", name, err)
			}
		})
		return worker{json.NewEncoder(in), json.NewDecoder(out)}, nil
	}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		c := call{Args: args[1:], Dir: ts.MkAbs("."), Env: environment(ts, dir)}
		w, err := start(args[0])
		ts.Check(err)
		var got outcome
		ts.Check(w.Encode(c))
		ts.Check(w.Decode(&got))
		mu.Lock()
		idle[args[0]] = append(idle[args[0]], w)
		mu.Unlock()
		_, _ = io.WriteString(ts.Stdout(), got.Stdout)
		_, _ = io.WriteString(ts.Stderr(), got.Stderr)
		ts.Check(documented(args, got))
		if (got.Code != 0) != neg {
			ts.Fatalf("exit status %d", got.Code)
		}
	}
}

// atFirst is the key of the environment with which a script begins.
type atFirst struct{}

var setsVariable = regexp.MustCompile(`(?m)^env (\w+)=`)

// environment returns the environment of a script. A [testscript.TestScript] tells a variable only
// by its name, so environment looks in the script for the names that it sets.
func environment(ts *testscript.TestScript, dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, ts.Name()+".txtar"))
	ts.Check(err)
	env := slices.Clone(ts.Value(atFirst{}).([]string))
	for _, m := range setsVariable.FindAllSubmatch(text, -1) {
		name := string(m[1]) + "="
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name) })
		if value := ts.Getenv(string(m[1])); value != "" { // not set yet, or no more
			env = append(env, name+value)
		}
	}
	return append(env, "PWD="+ts.MkAbs("."))
}

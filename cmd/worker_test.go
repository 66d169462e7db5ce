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
	variables := variablesIn(t, dir)
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
		c := call{Args: args[1:], Dir: ts.MkAbs("."), Env: []string{"PWD=" + ts.MkAbs(".")}}
		for _, name := range variables {
			if value := ts.Getenv(name); value != "" {
				c.Env = append(c.Env, name+"="+value)
			}
		}
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
		if (got.Code != 0) != neg {
			ts.Fatalf("exit status %d", got.Code)
		}
	}
}

// variablesIn are the variables that every script has, and those that one of a directory sets.
func variablesIn(t *testing.T, dir string) []string {
	names := []string{"WORK", "PATH", "HOME", "TMPDIR", "LANG", "GOCACHE"}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^env (\w+)=`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

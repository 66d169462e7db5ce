package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/testtmux"
	"tmuxmcp/internal/testtool"
)

func TestMain(m *testing.M) {
	if play, ok := standIns[filepath.Base(os.Args[0])]; ok {
		os.Exit(play(os.Args[1:]))
	}
	testtool.Parallel(8)
	os.Exit(m.Run())
}

// benchFor makes a bench that is gone when the test ends.
func benchFor(t *testing.T) (context.Context, *bench) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	b, err := newBench(ctx, testtmux.Binary(t), 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	return ctx, b
}

// TestJobs plays all jobs, some at a time, with a model that takes hardly any time.
func TestJobs(t *testing.T) {
	ctx, b := benchFor(t)
	var r report
	var mu sync.Mutex
	t.Run("jobs", func(t *testing.T) {
		for _, j := range jobs {
			t.Run(j.name, func(t *testing.T) {
				if j.slow && testing.Short() {
					t.Skip("takes more than five seconds, and -short is set")
				}
				t.Parallel()
				var calls bytes.Buffer
				o := b.play(ctx, j, func(tool, arguments, text string) {
					calls.WriteString("> " + tool + " " + arguments + "\n" + text + "\n")
				})
				mu.Lock()
				r.take(o)
				mu.Unlock()
				switch {
				case o.Skipped != "":
					t.Skip("SKIPPED: " + o.Skipped)
				case !o.Done:
					t.Errorf("%s\n%s", o.Error, &calls)
				}
			})
		}
	})
	t.Logf("%d of %d jobs done: %d calls, %d bytes read", r.Total.Done, len(jobs), r.Total.Calls, r.Total.Read)
	for _, m := range r.missed() {
		t.Error(m)
	}
}

// TestChecksFail has an agent that does nothing.
func TestChecksFail(t *testing.T) {
	ctx, b := benchFor(t)
	t.Run("jobs", func(t *testing.T) {
		for _, j := range jobs {
			t.Run(j.name, func(t *testing.T) {
				t.Parallel()
				s, err := b.newStage(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := s.close(); err != nil {
						t.Error(err)
					}
				}()
				var check func()
				if err := try(func() { _, check = j.prepare(s) }); err != nil {
					t.Fatal(err)
				}
				if err := try(check); err == nil {
					t.Error("the outcome of nothing counts as right")
				} else if !strings.HasPrefix(err.Error(), "outcome: ") {
					t.Error(err)
				}
			})
		}
	})
}

func TestNineteenJobs(t *testing.T) {
	if len(jobs) != 19 {
		t.Errorf("there are %d jobs", len(jobs))
	}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"--help", 0, "usage: go run ./internal/jobs", ""},
		{"--thnik 1s", 2, "", "flag provided but not defined: -thnik"},
		{"--think -1s", 2, "", "must not be negative"},
		{"--json --markdown", 2, "", "exclude each other"},
		{"emacs", 2, "", `no job "emacs": must be one of command, suite, `},
		{"--tmux /nowhere/tmux", 1, "", "jobs: find tmux: "},
	} {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), strings.Fields(test.args), &stdout, &stderr)
		if code != test.code || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) ||
			(stdout.Len() > 0) != (test.stdout != "") || (stderr.Len() > 0) != (test.stderr != "") {
			t.Errorf("jobs %s: exit %d, stdout %q, stderr %q", test.args, code, &stdout, &stderr)
		}
	}
}

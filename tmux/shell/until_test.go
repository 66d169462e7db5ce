package shell_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/shell"
)

// is returns an Until for a line.
func is(want string) func(string) bool { return func(line string) bool { return line == want } }

// A line that Until wants ends Run, in every shell, and the command goes on as a job.
func TestUntil(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"sh", "bash --norc --noprofile", "zsh -f", "fish --no-config", "dash", "ksh", "mksh", "busybox sh"} {
		name, _, _ := strings.Cut(command, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, name)
			pane := inShell(t, "exec "+command)
			ctx := testserver.Context(t)
			fifo := filepath.Join(t.TempDir(), "fifo")
			ok(t, syscall.Mkfifo(fifo, 0o600))
			res, err := new(shell.Runner).Run(ctx, pane, "echo one; printf 'two> '; read x < "+fifo+"; echo three; exit 3", shell.Options{Until: is("two> ")})
			if err != nil || !res.Reached || res.State != shell.Running || res.Job == nil || res.Output != "one\ntwo> \n" || res.Missed {
				t.Fatalf("%+v, %v", res, err)
			}
			job := res.Job
			// From the beginning, whether or not anything waits.
			for _, wait := range []func(context.Context, shell.Options) (*shell.Result, error){job.Wait, job.Result} {
				if res, err := wait(ctx, shell.Options{Until: is("one")}); err != nil || !res.Reached || res.State != shell.Running {
					t.Errorf("%+v, %v", res, err)
				}
			}
			if res, err := job.Result(ctx, shell.Options{Until: is("three")}); err != nil || res.Reached {
				t.Errorf("%+v, %v", res, err)
			}
			if res, err := job.Wait(ctx, shell.Options{Until: is("three"), Limit: 500 * time.Millisecond}); !errors.Is(err, shell.ErrRunning) || res.Reached {
				t.Errorf("%+v, %v", res, err)
			}
			ok(t, os.WriteFile(fifo, []byte("x\n"), 0o600))
			var exit *shell.ExitError
			if res, err := job.Wait(ctx, shell.Options{Until: is("no such line")}); !errors.As(err, &exit) || res.Reached || res.Status != 3 || res.Output != "one\ntwo> three\n" {
				t.Errorf("%+v, %v", res, err)
			}
			if res, err := job.Wait(ctx, shell.Options{Until: is("two> three")}); !errors.As(err, &exit) || !res.Reached || res.State != shell.Ended {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// What is not a command's output is not watched: the pane's lines before it, and how the shell
// traces what runs it.
func TestUntilIsForOutput(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec bash --norc --noprofile -x")
	ctx := testserver.Context(t)
	res, err := shell.Run(ctx, pane, "echo before")
	if err != nil {
		t.Fatalf("%+v, %v", res, err)
	}
	var lines []string
	_, err = new(shell.Runner).Run(ctx, pane, "echo one; echo two", shell.Options{Until: func(line string) bool {
		lines = append(lines, strings.TrimLeft(line, "+"))
		return false
	}})
	if got := strings.Join(lines, "|"); err != nil || got != " echo one|one| echo two|two" {
		t.Errorf("%s, %v", got, err)
	}
}

// An Until that never returns true is no reason to lose output, however much there is.
func TestUntilOfMuch(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	lines := testtool.Size(200_000, 3_000_000)
	var seen atomic.Int64
	var last string
	res, err := new(shell.Runner).Run(testserver.Context(t), pane, "seq "+strconv.Itoa(lines), shell.Options{
		Until: func(string) bool { seen.Add(1); return false },
		Lines: func(line string) { last = line },
	})
	if err != nil || res.Missed || last != strconv.Itoa(lines) || seen.Load() < int64(lines) {
		t.Errorf("%d lines seen, the last is %s: %+v, %v", seen.Load(), last, res, err)
	}
}

// A program that prints more than can be read does not keep a wait from ending.
func TestUntilWithoutEnd(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	line, found := strings.Repeat("x", 1000), false
	res, err := new(shell.Runner).Run(testserver.Context(t), pane, "echo begun; exec yes "+line, shell.Options{Until: func(line string) bool {
		if found {
			time.Sleep(2 * time.Millisecond) // half a megabyte a second, and yes is faster
		}
		found = found || line == "begun"
		return found
	}, Lines: func(string) {}})
	if err != nil || !res.Reached || res.State != shell.Running {
		t.Errorf("%+v, %v", res, err)
	}
	testserver.Run(t, pane.Server(), "kill-server")
}

// A wait ends when the pane does, and when the context does.
func TestUntilEnds(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	testserver.Run(t, pane.Server(), "new-window", "-d", "exec sleep 1000")
	ctx, cancel := context.WithCancelCause(testserver.Context(t))
	enough := errors.New("enough")
	begun := shell.Options{Until: func(line string) bool {
		if line == "begun" {
			cancel(enough)
		}
		return false
	}}
	res, err := new(shell.Runner).Run(ctx, pane, "echo begun; exec sleep 1000", begun)
	if !errors.Is(err, enough) || res.Reached || res.State != shell.Running {
		t.Fatalf("%+v, %v", res, err)
	}
	begun.Until = func(line string) bool {
		testserver.Run(t, pane.Server(), "kill-pane", "-t", "%0")
		return false
	}
	if res, err := res.Job.Wait(testserver.Context(t), begun); !errors.Is(err, shell.ErrLost) || res.Reached || !res.PaneEnded {
		t.Errorf("%+v, %v", res, err)
	}
}

package conform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/testtool"
)

// hostileRun runs a gap, read from standard input, as mcp-conform does. It is what the process
// of "CONFORM_TEST_HOSTILE=program test-binary" does.
func hostileRun(program string) error {
	Adopt()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var in hostileInput
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	out := hostileOutcome{}
	if versionTimeout = unhurried; in.Script == "stop\n" { // -V itself goes wrong
		versionTimeout = in.Timeout
	}
	targets, err := resolve(ctx, []string{program}, nil)
	switch {
	case err != nil:
		out.Err = err.Error()
	case in.Script == "":
		if _, err = TakeTokens(ctx, targets[0]); err != nil {
			out.Err = err.Error()
		}
	default:
		gap, err := gap.Parse("01-hostile.txtar", []byte("# gap: g\n# claim: c\n-- "+string(in.Layer)+" --\n"+in.Script))
		if err != nil {
			return err
		}
		result, err := Run(ctx, Options{Targets: targets, Gaps: []*Gap{gap}, Timeout: in.Timeout, Verbose: true})
		if err != nil {
			return err
		}
		out.Cell, out.Log = result.Cells[0], len(result.Cells[0].Log)
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var use syscall.Rusage
		if err := syscall.Getrusage(who, &use); err != nil {
			return err
		}
		out.PeakMB = max(out.PeakMB, int(use.Maxrss>>10))
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

type hostileInput struct {
	Layer   report.Layer
	Script  string
	Timeout time.Duration
}

type hostileOutcome struct {
	Cell   report.Cell
	Log    int
	Err    string
	PeakMB int // of the run's process, or of any below it
}

// hostile starts such a process on a tmux that does what body says for each
// command but -V, and -V what version says. MARK in them makes a process that
// the test can find again.
func hostile(t *testing.T, in hostileInput, version, body string) (cmd *exec.Cmd, out *bytes.Buffer, left func() []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ct")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mark := fmt.Sprintf("1000.%d%d", os.Getpid(), time.Now().UnixNano())
	path := filepath.Join(dir, "tmux")
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = -V ]; then\n%s\nexit\nfi\n%s\n", version, body)
	if err := testtool.WriteProgram(path, []byte(strings.ReplaceAll(text, "MARK", mark))); err != nil {
		t.Fatal(err)
	}
	in.Script = strings.ReplaceAll(in.Script, "MARK", mark)
	stdin, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(scriptProcess(t)[0])
	cmd.Env = append(os.Environ(), "CONFORM_TEST_HOSTILE="+path, "TMPDIR="+dir)
	out = new(bytes.Buffer)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	left = func() []string {
		found := processes(t, dir)
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			if line, _ := os.ReadFile(f); bytes.Contains(line, []byte(mark)) {
				found = append(found, f+" "+strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		return found
	}
	t.Cleanup(func() {
		if ps := left(); len(ps) > 0 {
			t.Errorf("left running:\n%s", strings.Join(ps, "\n"))
		}
		os.Remove(path)
		nothingLeft(t, dir)
	})
	return cmd, out, left
}

const (
	sane = "echo tmux 3.6a"
	// away starts two processes that nothing except their parents links to the
	// script; the parents of the second are gone at once.
	away = "env -i setsid sleep MARK >/dev/null 2>&1 </dev/null &\n(env -i setsid sh -c 'trap : HUP TERM INT; sleep MARK; sleep MARK' >/dev/null 2>&1 </dev/null &)\n"
)

// However a tmux behaves, its cell says so in time, in little memory, and nothing of it is
// left. The cases are in testdata/hostile.txtar.
func TestHostileTmux(t *testing.T) {
	t.Parallel()
	for _, c := range cases.Load(t, "testdata/hostile.txtar", "layer", "want", "timeout", "size") {
		if c.One("size") == "full" && !testtool.Full {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("AWAY\n", away)
			in := hostileInput{Layer: report.Layer(c.One("layer")), Timeout: timeoutOf(t, c)}
			if c.Texts["script"] != "" {
				in.Script = text.Replace(scriptOf(c))
			}
			cmd, stdout, _ := hostile(t, in, text.Replace(cmp.Or(c.Texts["-V"], sane)), text.Replace(c.Texts["tmux"]))
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			var out hostileOutcome
			if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
				t.Fatalf("%v: %s", err, stdout)
			}
			failed := out.Cell.Status.Bad() || out.Err != ""
			if got := out.Cell.Reason + out.Err; !failed || !regexp.MustCompile(c.One("want")).MatchString(got) {
				t.Errorf("%s: %s\nwant a failure: %s", out.Cell.Status, got, c.One("want"))
			}
			for _, e := range out.Cell.Evidence {
				if n := max(len(e.Actual), len(e.Command), len(e.Expected)); n > child.MaxText+100 {
					t.Errorf("evidence of %d bytes", n)
				}
			}
			// Only the MCP server and a large program may have more.
			most := 600
			if in.Layer == report.MCPLayer || c.Name == "memory below" {
				most = 900
			}
			if out.PeakMB > most*testtool.RaceFactor || out.Log > child.MaxLog+100 {
				t.Errorf("peak %d MB, transcript %d bytes", out.PeakMB, out.Log)
			}
			t.Logf("peak %d MB: %.200s", out.PeakMB, out.Cell.Reason+out.Err)
		})
	}
}

// A run that is interrupted, or killed, leaves nothing of a tmux that runs away.
func TestHostileInterrupt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, version, body string
		sig                 syscall.Signal
	}{
		{"interrupted", sane, away + "exec sleep MARK", syscall.SIGINT},
		{"killed at endless output", sane, away + "exec setsid yes MARK >/dev/null", syscall.SIGKILL},
		{"interrupted at -V", away + "exec sleep MARK", "", syscall.SIGINT},
		{"killed", sane, away + "exec sleep MARK", syscall.SIGKILL},
		{"killed at -V", away + "exec sleep MARK", "", syscall.SIGKILL},
	}[:testtool.Size(3, 5)] {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd, _, left := hostile(t, hostileInput{report.TmuxLayer, "tmux list-panes\n", time.Minute}, tt.version, tt.body)
			testtool.Eventually(t, "what runs away", func() bool { return len(left()) >= 5 })
			if err := cmd.Process.Signal(tt.sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if tt.sig == syscall.SIGKILL {
				testtool.Eventually(t, "the end of all", func() bool { return len(left()) == 0 })
			}
		})
	}
}

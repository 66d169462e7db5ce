package conform

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

// varies is what differs between two runs of the same commands: numbers, and
// directories.
var varies = regexp.MustCompile(`/dev/\S*|/\S*/|client-[0-9]+|[0-9]{3,}| +\n`)

// A reproducer shows what the script saw, with nothing but the target, and leaves
// nothing.
func TestReproducers(t *testing.T) {
	t.Parallel()
	gaps := lastingSuites(t)
	// Files, waiting, variables, clients on terminals, directories, control clients.
	some := []int{11, 106, 110, 402, 6, 207, 305}[:testtool.Size(4, 7)]
	gaps = slices.DeleteFunc(gaps, func(g *Gap) bool { return !slices.Contains(some, g.Number) })
	specs := []string{"needy=" + needy(t) + "?env=NEEDS=a %26 b&arg=--compat"} // which needs more, and then is the real one
	if testtool.Full {
		specs = append(specs, "real="+tmuxtest.Binary(t))
	}
	result := mustRun(t, Options{Gaps: gaps, Layers: []report.Layer{report.TmuxLayer}, Reproduce: true}, specs...)
	for _, c := range result.Cells {
		t.Run(result.Gap(c.Gap).Name+"/"+c.Tmux, func(t *testing.T) {
			t.Parallel()
			if c.Status != report.Pass || len(c.Evidence) == 0 {
				t.Fatalf("%s: %s", c.Status, c.Reason)
			}
			out := sh(t, c.Reproducer)
			saw, _, found := strings.Cut(out, "\nmcp-conform ran\n")
			if !found {
				t.Errorf("it does not show what was expected:\n%s", out)
			}
			want := varies.ReplaceAllString(strings.TrimSpace(c.Last().Actual)+"\n", "…")
			if want != "(no output)\n" && !strings.Contains(varies.ReplaceAllString(saw+"\n", "…"), want) {
				t.Errorf("it does not show\n%s\nbut\n%s\nwith\n%s", want, saw, c.Reproducer)
			}
		})
	}
}

// sh runs a shell script that ends in time.
func sh(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*unhurried)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh")
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(script), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

// A failure has a reproducer that shows it, and shows no failure on a tmux that has
// none. What passes has no reproducer.
func TestFailureHasReproducer(t *testing.T) {
	t.Parallel()
	real := tmuxtest.Binary(t)
	wrong := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(wrong, []byte("#!/bin/sh\ncase \"$*\" in *rename-window*) exit 0 ;; esac\nexec '"+real+"' \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
	g := gap(t, "mkdir sub\ntmux new-session -d -n first 'exec sleep 60'\ntmux rename-window -t @0 'it''s new'\ntmux new-window -d 'sleep 0.7; echo late; exec sleep 60'\nwait-until late tmux capture-pane -p -t %1\ntmux list-windows -F '[#{window_name}]'\nstdout '^\\[it''s new\\]$'\nsaw confirmed a\nclaim confirmed b\n")
	result := mustRun(t, Options{Gaps: []*Gap{g}}, "wrong="+wrong, "real="+real)
	if c := result.Cells[1]; c.Status != report.Pass || c.Reproducer != "" {
		t.Errorf("%s: %s: %q", c.Status, c.Reason, c.Reproducer)
	}
	c := result.Cells[0]
	if c.Status != report.Fail {
		t.Fatalf("%s: %s", c.Status, c.Reason)
	}
	if out := sh(t, c.Reproducer); !strings.Contains(out, "list-windows -F [#{window_name}]\n[first]\n") || !strings.Contains(out, "\nlate\n") {
		t.Errorf("the failure is not there:\n%s", out)
	}
	script := strings.Replace(c.Reproducer, "tmux=${1:-"+wrong+"}", "tmux="+real, 1)
	if out := sh(t, script); !strings.Contains(out, "list-windows -F [#{window_name}]\n[it's new]\n") {
		t.Errorf("the failure is there on the real tmux:\n%s", out)
	}
}

// Nothing that a tmux prints is a command in a reproducer.
func TestReproducersObeyNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owned, real := filepath.Join(dir, "owned"), tmuxtest.Binary(t)
	hostile := "'; touch " + owned + "; $(touch " + owned + ") `touch " + owned + "` \"; touch " + owned + "; #\nEOF\ntouch " + owned + "\n"
	wrong := filepath.Join(dir, "tmux")
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := testtool.WriteProgram(wrong, []byte("#!/bin/sh\ncase \"$*\" in *display-message*|*list-clients*) cat "+dir+"/text; exit ;; esac\nexec '"+real+"' \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
	g := gap(t, "tmux new-session -d 'exec sleep 60'\nattach user\ntmux display-message -p x\nsave v\ntmux set-option -g @v $v\nwait-until touch tmux display-message -p $v\n! stdout touch\n")
	c := mustRun(t, Options{Gaps: []*Gap{g}, Timeout: inVain}, wrong).Cells[0]
	if c.Status != report.Fail || !strings.Contains(c.Reproducer, "await ") || !strings.Contains(c.Last().Actual, "touch") {
		t.Fatalf("%s: %s", c.Status, c.Reason)
	}
	sh(t, c.Reproducer)
	if _, err := os.Stat(owned); err == nil {
		t.Errorf("what tmux printed was run:\n%s", c.Reproducer)
	}
}

package server_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testtool"
)

// TestCancelFindsEveryProgram: also one that has left the group of its job, and one of a
// pipeline whose first program, the leader of the foreground, has ended.
func TestCancelFindsEveryProgram(t *testing.T) {
	t.Parallel()
	testtool.Path(t, "timeout")
	for i, shell := range []string{"bash", "dash", "zsh", "mksh"} {
		for j, own := range []string{"true", "set +m"} {
			if !testtool.Full && (i > 1 || i != j) { // each once
				continue
			}
			t.Run(shell+" "+own, func(t *testing.T) {
				t.Parallel()
				srv, p := shellPane(t, shell)
				p.expect("%0", "echo first", "first")
				typeLine(t, srv, "%0", own)
				for n, c := range []struct{ command, signal string }{
					{"timeout 9999 sleep %d", "TERM"}, {"timeout 9999 sleep %d", "KILL"}, {"setsid -w sleep %d", "TERM"},
					{`bash --norc -ic "true | sleep %d"`, "INT"}, {`bash --norc -ic "true | sleep %d"`, "TERM"}, {`bash --norc -ic "true | sleep %d"`, "KILL"},
				} {
					number := 7000 + 100*i + 10*j + n
					running := func() bool {
						session := format(t, srv, "%0", "#{pane_pid}")
						return slices.ContainsFunc(procstat.All(), func(p procstat.Process) bool {
							line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
							return string(line) == fmt.Sprintf("sleep\x00%d\x00", number) && (fmt.Sprint(p.Session) == session || strings.Contains(c.command, "setsid"))
						})
					}
					job := p.command("%0", fmt.Sprintf(c.command, number), `"detach":true`)
					testtool.Eventually(t, "it runs", running)
					ok[ran](p, "cancel_job", `{"job_id":"`+job.JobID+`","signal":"`+c.signal+`"}`)
					if got := p.job(job.JobID, `"timeout":30`); got.State != "ended" || got.status() == "0" {
						t.Errorf("%s, %s: %+v", c.command, c.signal, got)
					}
					testtool.Eventually(t, c.command+", "+c.signal+": its program has ended", func() bool { return !running() })
					p.expect("%0", "echo usable", "usable")
				}
			})
		}
	}
}

package runner

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/testtool"
)

// TestACommandBeginsOrIsRevoked: whichever comes first holds, however often the line is
// read, in each shell that reads the file itself.
func TestACommandBeginsOrIsRevoked(t *testing.T) {
	ownTemp(t, 0o700)
	var f Files
	defer f.Close()
	for _, name := range []string{"bash", "dash", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Errorf("%s is not installed: %v", name, err)
			continue
		}
		for _, revokeFirst := range []bool{true, false} {
			shell := Foreground{Name: name, shell: dialects[name], path: path}
			c, err := f.Command(true)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Write(shell, "echo ran; exit 7", false); err != nil {
				t.Fatal(err)
			}
			if c.Begun() {
				t.Errorf("%s: it has begun before anybody read it", name)
			}
			if revokeFirst && !c.Revoke() {
				t.Errorf("%s: it cannot be revoked before it began", name)
			}
			line := strings.TrimSuffix(c.Line(shell), "\r")
			out, _ := exec.Command(path, "-c", line+"\n"+line).Output() // the second is refused
			ran := strings.Count(string(out), "ran\n")
			status, ended := c.Status()
			switch {
			case revokeFirst && (ran != 0 || ended || c.Begun()):
				t.Errorf("%s: revoked, it ran %d times, status %d %v, begun %v:\n%s", name, ran, status, ended, c.Begun(), out)
			case !revokeFirst && (ran != 1 || !ended || status != 7 || !c.Begun() || c.Revoke()):
				t.Errorf("%s: it ran %d times, status %d %v, begun %v:\n%s", name, ran, status, ended, c.Begun(), out)
			}
			lines, begun, marked := c.Between(strings.Split(string(out), "\n"))
			if !revokeFirst && (!begun || !marked || strings.Join(lines, "|") != "ran") {
				t.Errorf("%s: between the marks is %q, %v %v", name, lines, begun, marked)
			}
			if c.RemoveAtItsEnd(); !revokeFirst {
				if _, err := os.Stat(c.dir); err == nil {
					t.Errorf("%s: the files of an ended command are left", name)
				}
			}
		}
	}
}

// TestAFeederNeverWaitsForAReader: the process that feeds the recorder ends when the
// server is gone, also when it has yet to open the pipe.
func TestAFeederNeverWaitsForAReader(t *testing.T) {
	ownTemp(t, 0o700)
	var f Files
	defer f.Close()
	for _, shell := range []string{"sh", "bash", "dash", "ksh", "mksh", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			path := testtool.Path(t, shell)
			c, err := f.Command(false)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(c.path("output"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"-c", c.Feed()}
			if shell == "busybox" {
				args = append([]string{"sh"}, args...)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			// tmux closes its input when the pane ends.
			if err := exec.CommandContext(ctx, path, args...).Run(); ctx.Err() != nil {
				t.Errorf("it waits: %v", err)
			}
		})
	}
}

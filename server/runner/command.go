package runner

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Command is one command on its way into a shell. It is for one goroutine.
type Command struct {
	script
	recorder *recorder // nil without Record
	revoked  bool
}

// Command makes the directory of a command. Visible is that its output will be read off
// the screen, and not recorded.
func (f *Files) Command(visible bool) (*Command, error) {
	dir, err := f.command()
	if err != nil {
		return nil, err
	}
	var nonce [8]byte
	rand.Read(nonce[:])
	return &Command{script: script{dir: dir, token: hex.EncodeToString(nonce[:]), visible: visible}}, nil
}

// Write writes the files that a shell reads. With record, the command enters the
// history of a shell that can be made to do so.
func (c *Command) Write(shell Foreground, command string, record bool) error {
	return c.write(shell.shell, shell.path, command, record)
}

// Record begins to record, on a terminal of so many columns. The output comes from the
// command that [Command.Feed] returns, which is for tmux's pipe-pane.
func (c *Command) Record(columns int) (err error) {
	c.recorder, err = newRecorder(c.script, columns)
	return err
}

// Recorded reports whether the output is recorded, and not read off the screen.
func (c *Command) Recorded() bool { return c.recorder != nil }

// Ended gets the exit status when the recording has come to the second mark.
func (c *Command) Ended() <-chan int { return c.recorder.ended }

// Over is closed when nothing more will be recorded.
func (c *Command) Over() <-chan struct{} { return c.recorder.over }

// Came is how many bytes were recorded so far, marks and all.
func (c *Command) Came() int64 { return c.recorder.came.Load() }

// Close ends the recording.
func (c *Command) Close() {
	if c.recorder != nil {
		c.recorder.close()
	}
}

// KillFeed ends the recording, and the process that feeds it.
func (c *Command) KillFeed() {
	if c.recorder.close(); c.recorder.feeder > 1 {
		_ = syscall.Kill(c.recorder.feeder, syscall.SIGTERM)
	}
}

// Output ends the recording and returns the command's output, and how many lines before
// it were too many to be kept.
func (c *Command) Output() (lines []string, dropped int) {
	c.recorder.close()
	lines, dropped = c.recorder.transcript.lines()
	kept := lines[:0]
	for _, l := range lines {
		if !c.ours(l) {
			kept = append(kept, l)
		}
	}
	return kept, dropped
}

// Begun reports whether the command has begun.
func (c *Command) Begun() bool {
	if c.recorder != nil && c.recorder.begun.Load() {
		return true
	}
	_, err := os.Lstat(c.path("status"))
	return err == nil && !c.revoked
}

// Revoke keeps the command from beginning, unless it has. It reports whether the
// command is revoked.
func (c *Command) Revoke() bool {
	if !c.revoked && !c.Begun() {
		f, err := os.OpenFile(c.path("status"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if c.revoked = err == nil; c.revoked {
			f.Close()
		}
	}
	return c.revoked
}

// Status is the exit status that the shell has left.
func (c *Command) Status() (int, bool) {
	text, err := os.ReadFile(c.path("status"))
	if err != nil || len(text) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(string(text))
	return n, err == nil
}

// Remove removes the files. Nobody waits for that: it takes milliseconds on some file
// systems, and a command that was answered cannot begin again.
func (c *Command) Remove() { go os.RemoveAll(c.dir) }

// RemoveAtItsEnd removes the files of a command that was given up, when it has ended:
// one that has just begun has not read all of them. The files of a command that never
// ends, or whose shell was killed, go with the server's.
func (c *Command) RemoveAtItsEnd() { c.script.removeAtItsEnd(50 * time.Millisecond) }

func (s script) removeAtItsEnd(pause time.Duration) {
	if info, err := os.Stat(s.path("status")); err == nil && info.Size() == 0 {
		time.AfterFunc(pause, func() { s.removeAtItsEnd(min(2*pause, 10*time.Second)) })
		return
	}
	os.RemoveAll(s.dir)
}

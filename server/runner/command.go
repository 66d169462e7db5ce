package runner

import (
	"os"
	"syscall"
)

// Command is a job that somebody waits for. It is for one goroutine.
type Command struct {
	*Job
	follower *follower // nil when nothing is recorded
	revoked  bool
}

// Command makes the directory of a command. Visible is that its output will be read off
// the screen, and not recorded.
func (f *Files) Command(at Place, visible bool) (*Command, error) {
	j, err := f.newJob(at, visible)
	if err != nil {
		return nil, err
	}
	return &Command{Job: j}, nil
}

// Write writes the files that a shell reads. With record, the command enters the
// history of a shell that can be made to do so.
func (c *Command) Write(shell Foreground, command string, record bool) error {
	return c.write(shell.shell, shell.path, command, record)
}

// Record begins to read what will be recorded: by the command that [Command.Feed]
// returns, which is for tmux's pipe-pane.
func (c *Command) Record(sink Sink) error {
	if err := os.WriteFile(c.path("feed"), []byte(c.feed()), 0o600); err != nil {
		return err
	}
	if err := syscall.Mkfifo(c.path("done"), 0o600); err != nil {
		return err
	}
	c.follower = follow(newReading(c.script, c.Columns, sink))
	return nil
}

// Await makes a command of a job, to wait for its end. The sink gets its output from
// the beginning, if it is recorded.
func (j *Job) Await(sink Sink) *Command {
	c := &Command{Job: j}
	if !j.visible {
		c.follower = follow(newReading(j.script, j.Columns, sink))
	}
	return c
}

// Recorded reports whether the output is recorded, and not read off the screen.
func (c *Command) Recorded() bool { return c.follower != nil }

// Ended gets the exit status when the recording has come to the second mark.
func (c *Command) Ended() <-chan int { return c.follower.recorded }

// Over is closed when nothing more will be recorded.
func (c *Command) Over() <-chan struct{} { return c.follower.over }

// Read is closed when what was recorded at first has been read.
func (c *Command) Read() <-chan struct{} { return c.follower.read }

// Came is how many recorded bytes have been read so far, marks and all.
func (c *Command) Came() int64 { return c.follower.came.Load() }

// Missed reports whether output was dropped before it was read.
func (c *Command) Missed() bool { return c.follower != nil && c.follower.lost.Load() }

// Close ends the reading, and gives the sink the rest. The recorder goes on.
func (c *Command) Close() {
	if c.follower != nil {
		c.follower.end()
	}
}

// Begun reports whether the command has begun.
func (c *Command) Begun() bool {
	if c.follower != nil && c.follower.begun.Load() {
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
			_, _ = f.WriteString(revoked)
			f.Close()
		}
	}
	return c.revoked
}

// Remove removes the files. Nobody waits for that: it takes milliseconds on some file
// systems, and a command that was answered cannot begin again. But nobody finds the job
// any more.
func (j *Job) Remove() {
	os.Remove(j.path("job"))
	go remove(j.dir)
}

package runner

import (
	"os"
	"syscall"
	"time"
)

// Command is a job that somebody waits for. It is for one goroutine.
type Command struct {
	*Job
	follower *follower // nil when nothing is recorded
	revoked  bool
}

// Command makes the directory of a command. Visible is that its output will be read off
// the screen, and not recorded. With resume, a recorder that waits in the pane goes on for it.
func (f *Files) Command(at Place, visible, resume bool) (*Command, error) {
	j, err := f.newJob(at, visible, resume)
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
	if c.resumed {
		c.follower = follow(newReading(c.Job, sink))
		return nil
	}
	if err := os.WriteFile(c.path("recorder.sh"), recorder, 0o600); err != nil {
		return err
	}
	c.follower = follow(newReading(c.Job, sink))
	return nil
}

// Await makes a command of a job, to wait for its end. The sink gets its output from
// the beginning, if it is recorded.
func (j *Job) Await(sink Sink) *Command {
	c := &Command{Job: j}
	if !j.visible {
		c.follower = follow(newReading(j, sink))
	}
	return c
}

// Resumed reports whether the recorder of an earlier command goes on.
func (c *Command) Resumed() bool { return c.resumed }

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

// Missed reports, after [Command.Close], whether output was dropped before it was read, or may
// look different in the pane, whose terminal is tty or, if it is gone, "".
func (c *Command) Missed(tty string) bool {
	return c.follower != nil && (c.follower.lost.Load() || !c.follower.transcript.holds(c.size(tty)))
}

// Close ends the reading, and gives the sink the rest. The recorder goes on.
func (c *Command) Close() {
	if c.follower != nil {
		c.follower.end(false)
	}
}

// Finish is Close for a command whose pane prints no more: the sink gets all of what tmux
// has read. It reports whether that is proven: the recorder has come to the end, or waits
// for more in a pane whose program has ended.
func (c *Command) Finish(limit time.Duration) bool {
	if c.follower == nil {
		return false
	}
	all := false
	for end := time.Now().Add(limit); !all && time.Now().Before(end); {
		select {
		case <-c.Over():
			all = true
		case <-time.After(2 * time.Millisecond):
			all = c.Drained()
		}
	}
	c.follower.end(true)
	return all
}

// EndRecording ends the recorder, and returns when it has ended.
func (c *Command) EndRecording(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, began := c.recorder(); began && !c.Recording() {
			return
		}
		c.Stop()
	}
}

// Leave says that this server does not wait for the end of the command any longer. Then
// the shell that runs it ends the recorder, or it has ended before and this does.
func (c *Command) Leave() {
	os.Remove(c.path("run"))
	if c.Look().Phase >= Ended {
		c.signalRecorder(syscall.SIGUSR1)
	}
}

// Begun reports whether the command has begun.
func (c *Command) Begun() bool {
	if c.follower != nil && c.follower.begun.Load() {
		return true
	}
	_, err := os.Lstat(c.path("begun"))
	return err == nil && !c.revoked
}

// Revoke keeps the command from beginning, unless it has. It reports whether the
// command is revoked.
func (c *Command) Revoke() bool {
	if !c.revoked && !c.Begun() {
		f, err := os.OpenFile(c.path("begun"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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

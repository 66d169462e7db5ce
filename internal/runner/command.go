package runner

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Command is a job that somebody waits for. It must only be used by one goroutine.
type Command struct {
	*Job
	// If the output is recorded, Ended gets the exit status from the recording's second
	// mark, Over is closed when nothing more will be recorded, and Read when everything
	// recorded at first has been read. Found is closed when a [Watcher] has found a line, and
	// what had been recorded until then has been read. Otherwise they are nil.
	Ended             chan int
	Over, Read, Found chan struct{}
	// Answers gets what the loader and the gatherer of a remote command answer.
	Answers chan string

	way         Way
	transcriber *transcriber  // nil if nothing is recorded
	stop, done  chan struct{} // closed when its goroutine is to end, and has ended
	stopped     bool          // stop is closed
	revoked     bool
}

// Command creates the directory of a command, with the file that describes its job. If
// visible is set, its output will be read off the screen instead of recorded. With resume,
// it takes over the directory of a recorder that is waiting in the pane, if there is one.
func (f *Files) Command(at Place, way Way, visible, resume bool) (c *Command, err error) {
	dir, resumed := "", false
	if resume {
		dir, resumed = f.resume(at)
	}
	if !resumed {
		if dir, err = f.command(); err != nil {
			return nil, err
		}
	}
	var nonce [8]byte
	rand.Read(nonce[:])
	j := newJob(at, script{dir: dir, Token: hex.EncodeToString(nonce[:]), OnScreen: visible})
	j.resumed, j.Lasting, j.Remote = resumed, way.Lasting, way.Remote
	err = j.describe()
	if err == nil {
		err = os.WriteFile(j.path("status"), []byte(noStatus), 0o600)
	}
	if err == nil {
		err = os.Symlink(j.ID(), j.alias())
	}
	if err != nil {
		j.Stop()
		remove(dir)
		return nil, fmt.Errorf("describe the job: %w", err)
	}
	return &Command{Job: j, way: way}, nil
}

// Write writes the files that a shell reads.
func (c *Command) Write(shell Foreground, command string) error {
	if c.Remote != "" {
		return c.writeRemote(shell, command)
	}
	return c.write(shell, command, c.way)
}

// Line returns the line to type to begin the command. The leading blank keeps it out of
// histories that support this; fish's does, so it may have the alias, which others can read.
func (c *Command) Line(f Foreground) string {
	if f.shell.builtin == "" && !c.way.Lasting {
		return f.emptyLine() + " /bin/sh " + filepath.Join(c.alias(), "run") + "\r"
	}
	return f.reads(c.path("run"))
}

// Record starts reading the recording, which is made by the command that [Command.Feed]
// returns, for tmux's pipe-pane.
func (c *Command) Record(sink Sink) error {
	if !c.resumed {
		if err := os.WriteFile(c.path("recorder.sh"), recorderScript, 0o600); err != nil {
			return err
		}
	}
	c.follow(sink)
	return nil
}

// Await returns a command for a job, to wait for its end. The sink gets its output from the
// beginning, if it is recorded.
func (j *Job) Await(sink Sink) *Command {
	c := &Command{Job: j}
	if !j.OnScreen {
		c.follow(sink)
	}
	return c
}

// Resumed reports whether the recorder of an earlier command is used.
func (c *Command) Resumed() bool { return c.resumed }

// Recorded reports whether the output is recorded instead of read off the screen.
func (c *Command) Recorded() bool { return c.transcriber != nil }

// BytesRead returns how many recorded bytes have been read so far, including marks.
func (c *Command) BytesRead() int64 { return c.transcriber.size.Load() }

// Missed reports, after [Command.Close], whether output was dropped before it was read, or
// may look different in the pane. tty is the pane's terminal, or "" if it is gone.
func (c *Command) Missed(tty string) bool {
	return c.transcriber != nil && (c.transcriber.lost.Load() || !c.transcriber.transcript.Holds(c.size(tty)))
}

// Dropped reports, after [Command.Close], whether output was dropped before it was read.
func (c *Command) Dropped() bool { return c.transcriber != nil && c.transcriber.lost.Load() }

// Close stops reading, and gives the sink the rest. The recorder keeps running.
func (c *Command) Close() { c.endReading(0) }

// Finish does what Close does for a command that will print no more: the sink gets everything
// that tmux has read. It reports whether that is proven: the recorder has reached the end, or
// is waiting for more in a pane whose program has ended.
func (c *Command) Finish(limit time.Duration) bool {
	if c.transcriber == nil {
		return false
	}
	all := false
	for end := time.Now().Add(limit); !all && time.Now().Before(end) && !c.Removed(); {
		select {
		case <-c.Over:
			all = true
		case <-time.After(2 * time.Millisecond):
			all = c.Drained()
		}
	}
	return c.endReading(limit) && all
}

// EndRecording ends the recorder, and returns once it has ended.
func (c *Command) EndRecording(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, began := c.recorderPID(); began && !c.Recording() {
			return
		}
		c.Stop()
	}
}

// Leave declares that this server no longer waits for the end of the command. The shell that runs
// it will then end the recorder; if the command has already ended, Leave ends it.
func (c *Command) Leave() {
	os.Remove(c.path("run"))
	if c.Look().Phase >= Ended {
		c.signalRecorder(syscall.SIGUSR1)
	}
}

// Shown reports whether the recording has the first mark: whether a remote command that was started
// is known to have begun.
func (c *Command) Shown() bool { return c.transcriber != nil && c.transcriber.begun.Load() }

// Begun reports whether the command has begun.
func (c *Command) Begun() bool {
	if c.Shown() {
		return true
	}
	_, err := os.Lstat(c.path("begun"))
	return err == nil && !c.revoked
}

// Revoke keeps the command from beginning, unless it has begun already. It reports whether
// the command is revoked.
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

// Remove removes the files in the background: this takes milliseconds on some file systems,
// and a command that was answered cannot begin again. The job can no longer be found.
func (j *Job) Remove() {
	os.Remove(j.path("job"))
	go remove(j.dir)
}

package runner

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Starting a recorder takes longer than running a short command. So the recorder of a
// command whose output was returned in full stays for a while for the next command in its
// pane, in the same directory under another name, which is the id of the next job. It keeps
// no recorded output. If the server is killed meanwhile, the recorder ends by itself, and
// leaves its directory to [Sweep].

const (
	// restsFor is how long a recorder stays.
	restsFor = 5 * time.Second
	// closesFor is how long tmux may take to close the pipe of a recorder that was ended.
	closesFor = 4 * time.Second
)

type resting struct {
	*Job
	timer *time.Timer
}

// pane returns the part of a place that identifies its pane.
func (p Place) pane() Place {
	p.Shell, p.Columns, p.Rows, p.Odd = 0, 0, 0, false
	return p
}

// Rest does what Remove does for a command whose recorder may serve the next one.
func (f *Files) Rest(c *Command) {
	c.Close()
	// First hide it from the shell, which would end the recorder because no server is
	// waiting.
	dir := newDir(filepath.Dir(c.dir))
	if os.Rename(c.dir, dir) != nil {
		c.Stop()
		c.Remove()
		return
	}
	os.Remove(c.alias())
	j := newJob(c.Place, script{dir: dir, Token: c.Token})
	j.Resting = true
	if j.describe() != nil {
		j.Stop()
		remove(dir)
		return
	}
	f.mu.Lock()
	go func() { // only the next command waits for that
		defer f.mu.Unlock()
		j.forget()
		f.keep(j)
	}()
}

// forget removes the recorded output and the files of the command.
func (j *Job) forget() {
	for _, name := range []string{"run", "body", "command", "begun", "status", "process", "kept", "held", "end", "ask", "left", "remote"} {
		os.Remove(j.path(name))
	}
	numbers := j.parts()
	for i, n := range numbers {
		if part := j.path("o" + strconv.Itoa(n)); i < len(numbers)-1 {
			os.Remove(part)
		} else {
			_ = os.Truncate(part, 0) // dd appends
		}
	}
}

// keep lets a recorder rest.
func (f *Files) keep(j *Job) {
	if f.resting == nil {
		f.resting = map[Place]resting{}
	}
	at := j.Place.pane()
	if _, is := f.resting[at]; is { // its pipe was closed by somebody
		f.dismiss(at)
	}
	f.resting[at] = resting{j, time.AfterFunc(restsFor, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.resting[at].Job == j {
			f.dismiss(at)
		}
	})}
}

func (f *Files) dismiss(at Place) {
	r := f.resting[at]
	delete(f.resting, at)
	r.timer.Stop()
	r.Stop()
	r.Remove()
	maps.DeleteFunc(f.closing, func(_ Place, since time.Time) bool { return time.Since(since) > closesFor })
	if f.closing == nil {
		f.closing = map[Place]time.Time{}
	}
	f.closing[at] = time.Now()
}

// Closing reports whether a recorder that rested in this pane was ended so recently that
// tmux may not have closed its pipe yet.
func (f *Files) Closing(at Place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.closing[at.pane()]) < closesFor
}

// Resumes reports whether a recorder is waiting for the next command in a pane whose pipe
// is open. It ends a recorder whose pipe another program may have taken.
func (f *Files) Resumes(at Place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, is := f.resting[at.pane()]
	if is && !r.Drained() {
		f.dismiss(at.pane())
		return false
	}
	return is
}

// resume takes over the directory of a waiting recorder.
func (f *Files) resume(at Place) (dir string, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, is := f.resting[at.pane()]
	if is {
		delete(f.resting, at.pane())
		r.timer.Stop()
		dir = r.dir
	}
	return dir, is
}

package runner

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// To start a recorder takes longer than to run a short command. So that of a command whose
// output was returned whole stays for the next one in its pane, for a while, in the same
// directory under another name, which is the id of the next job. It keeps nothing that was
// recorded. A server that is killed meanwhile leaves it to [Sweep].

const (
	// restsFor is how long a recorder stays.
	restsFor = 5 * time.Second
	// closesFor is how long tmux may take to close the pipe of one that was ended.
	closesFor = 4 * time.Second
)

type resting struct {
	*Job
	timer *time.Timer
}

// pane is what a place has of a pane.
func (p Place) pane() Place {
	p.Shell, p.Columns, p.Rows, p.Odd = 0, 0, 0, false
	return p
}

// Rest is Remove for a command whose recorder may serve the next one.
func (f *Files) Rest(c *Command) {
	c.Close()
	// First of all the shell must not find it any more, which would end the recorder
	// because no server waits.
	dir := newDir(filepath.Dir(c.dir))
	if os.Rename(c.dir, dir) != nil {
		c.Stop()
		c.Remove()
		return
	}
	j := &Job{Place: c.Place, At: time.Now(), owner: os.Getpid(), resting: true, script: script{dir: dir, token: c.token}}
	if j.describe() != nil {
		j.Stop()
		remove(dir)
		return
	}
	f.mu.Lock()
	go func() { // nobody waits for that but the next command
		defer f.mu.Unlock()
		j.forget()
		f.keep(j)
	}()
}

// forget removes what was recorded, and the files of the command.
func (j *Job) forget() {
	for _, name := range []string{"run", "command", "begun", "status", "process"} {
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
	if _, is := f.resting[at]; is { // whose pipe somebody has closed
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

// dismiss ends a recorder that rests.
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

// Closing reports whether a recorder that rested in this pane was ended so lately that tmux may not
// have closed its pipe yet.
func (f *Files) Closing(at Place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.closing[at.pane()]) < closesFor
}

// Resumes reports whether a recorder waits for the next command in a pane whose pipe is
// open. It cannot be seen to wait once its pipe is another's: then it is ended.
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

// resume takes the directory of a recorder that waits.
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

package runner

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Place is where a job runs.
type Place struct {
	// Socket, Server and Started are a tmux server: its socket, its process, and when
	// that began. Pane is the id of the pane in it, and Pid its first process.
	Socket  string
	Server  int
	Started int64 // in seconds since 1970
	Pane    string
	Pid     int
	// Shell is the process that reads the command.
	Shell int
	// Columns is the width of the pane.
	Columns int
}

// On reports whether the place is on the same tmux server as another one.
func (p Place) On(other Place) bool {
	return p.Socket == other.Socket && p.Server == other.Server && p.Started == other.Started
}

// Job is a command that was given to a shell, by this server or another one.
type Job struct {
	Place
	At time.Time // when
	script
}

// jobFile is what the file "job" holds.
type jobFile struct {
	Place
	At      time.Time
	Token   string
	Visible bool
	// Space is the name of the PID namespace that the numbers are of.
	Space string
}

// ID names the job.
func (j *Job) ID() string { return filepath.Base(j.dir) }

// Visible reports whether the output is not recorded, but on the screen.
func (j *Job) Visible() bool { return j.visible }

// Text is the first bytes of the command.
func (j *Job) Text() string {
	text, _ := readOwn(j.path("command"), 1000)
	return strings.ToValidUTF8(strings.TrimSpace(string(text)), "")
}

// newJob makes the directory of a job, with the file that describes it.
func (f *Files) newJob(at Place, visible bool) (*Job, error) {
	dir, err := f.command()
	if err != nil {
		return nil, err
	}
	var nonce [8]byte
	rand.Read(nonce[:])
	j := &Job{Place: at, At: time.Now(), script: script{dir: dir, token: hex.EncodeToString(nonce[:]), visible: visible}}
	text, err := json.Marshal(jobFile{j.Place, j.At, j.token, visible, pidSpace()})
	if err == nil {
		err = os.WriteFile(j.path("job"), text, 0o600)
	}
	if err != nil {
		remove(dir)
		return nil, fmt.Errorf("describe the job: %w", err)
	}
	return j, nil
}

// ErrNoJob is that no job has an id.
var ErrNoJob = errors.New("no such job")

// Find finds a job of this user's by its id.
func Find(id string) (*Job, error) {
	if !jobID.MatchString(id) {
		return nil, ErrNoJob
	}
	for _, home := range homes() {
		if j, err := load(home, id); err == nil || !errors.Is(err, os.ErrNotExist) {
			return j, err
		}
	}
	return nil, ErrNoJob
}

// mostListed bounds how many directories are looked at.
const mostListed = 2000

// Jobs are the jobs of this user's on a tmux server that have begun, the newest first.
func Jobs(on Place) (jobs []*Job) {
	for _, home := range homes() {
		for _, id := range jobsIn(home) {
			j, err := load(home, id)
			if err == nil && j.On(on) && j.Look().Phase != Waiting {
				jobs = append(jobs, j)
			}
		}
	}
	slices.SortFunc(jobs, func(a, b *Job) int { return b.At.Compare(a.At) })
	return jobs
}

func jobsIn(home string) (ids []string) {
	if checkHome(home) != nil {
		return nil
	}
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		if jobID.MatchString(e.Name()) && len(ids) < mostListed {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// load reads what describes a job.
func load(home, id string) (*Job, error) {
	if err := checkHome(home); err != nil {
		return nil, err
	}
	dir := filepath.Join(home, id)
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("%s %w", dir, err)
	}
	text, err := readOwn(filepath.Join(dir, "job"), 64<<10)
	if err != nil {
		return nil, err
	}
	var file jobFile
	if err := json.Unmarshal(text, &file); err != nil || len(file.Token) != 16 || file.Columns < 0 {
		return nil, fmt.Errorf("%s does not describe a job", filepath.Join(dir, "job"))
	}
	if file.Space != pidSpace() {
		return nil, fmt.Errorf("job %s runs in another PID namespace", id)
	}
	return &Job{Place: file.Place, At: file.At, script: script{dir: dir, token: file.Token, visible: file.Visible}}, nil
}

// Phase is what has become of a job.
type Phase int

// The phases of a job.
const (
	Waiting Phase = iota // it has not begun; maybe it never will
	Running
	Ended
	Lost // what ran it was killed, and its status is not known
)

// State is a phase, with the exit status of a job that has ended, and when that or the
// last sign of life was.
type State struct {
	Phase  Phase
	Status int
	At     time.Time
}

// Look finds out the state of a job, without tmux.
func (j *Job) Look() State {
	s, open := j.written()
	if !open {
		return s
	}
	if j.alive() {
		return State{Phase: Running}
	}
	if s, open = j.written(); !open {
		return s
	}
	last := time.Time{}
	for _, n := range j.parts() {
		if info, err := os.Lstat(j.path("o" + strconv.Itoa(n))); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if last.IsZero() {
		last = s.At
	}
	if status, ok := j.endMark(); ok {
		return State{Ended, status, last}
	}
	return State{Phase: Lost, At: last}
}

// written is what the file "status" says. Open is that the job has begun, and nothing
// says that it has ended.
func (j *Job) written() (s State, open bool) {
	info, err := os.Lstat(j.path("status"))
	if err != nil {
		return State{Phase: Waiting, At: j.At}, false
	}
	s.At = info.ModTime()
	text, _ := readOwn(j.path("status"), 20)
	if string(text) == revoked {
		return s, false
	}
	if s.Status, err = strconv.Atoi(string(text)); err == nil {
		s.Phase = Ended
		return s, false
	}
	return s, true
}

// revoked is in the file "status" of a command that will not run.
const revoked = "-"

// alive reports whether the process that runs the command, or at least its shell, is
// there.
func (j *Job) alive() bool {
	if there, known := j.process(); known {
		return there
	}
	return !gone(j.Shell)
}

// pidSpace is the name of the PID namespace of this process, if it has one.
func pidSpace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// PipeIsOurs reports whether the pipe of a pane is that of a job which is over, and whose
// output has all been recorded: then it may be taken.
func PipeIsOurs(at Place) bool {
	for _, j := range Jobs(at) {
		if j.Pane != at.Pane || !j.Recording() {
			continue
		}
		_, all := j.endMark()
		return all || j.Look().Phase == Lost
	}
	return false
}

// PaneJobs are the recorded jobs of a pane, the newest first.
func PaneJobs(at Place) []*Job {
	return slices.DeleteFunc(Jobs(at), func(j *Job) bool { return j.Pane != at.Pane || j.visible })
}

// Scan gives a sink the lines that a job has printed so far, as long as more returns
// true; it is asked at least once a megabyte. Whole is that none of them is missing.
func (j *Job) Scan(sink Sink, more func() bool) (whole bool) {
	r := newReading(j.script, j.Columns, sink)
	for r.more() {
		if !more() {
			whole = false
			break
		}
		whole = true
	}
	r.close()
	return !r.lost.Load() && (whole || r.came.Load() == 0)
}

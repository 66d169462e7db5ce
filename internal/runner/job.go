package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// Place is where a job runs.
type Place struct {
	// Socket, Server and Started identify a tmux server: its socket, its process, and when
	// that began. Pane is the id of a pane in it, and Pid the pane's first process.
	Socket  string
	Server  int
	Started int64 // in seconds since 1970
	Pane    string
	Pid     int
	// Shell is the process that reads the command.
	Shell int
	// Columns and Rows are the size of the pane.
	Columns, Rows int
	// Odd is set if the pane is in a mode in which output looks different.
	Odd bool
}

// On reports whether both places are on the same tmux server.
func (p Place) On(other Place) bool {
	return p.Socket == other.Socket && p.Server == other.Server && p.Started == other.Started
}

// Resized reports whether the terminal of the pane is known to have a different size from
// the pane's.
func (p Place) Resized(tty string) bool {
	columns, rows := p.size(tty)
	return columns != p.Columns || rows != p.Rows
}

// size returns the size of the pane's terminal, or the recorded size if it is unknown. tmux
// changes it at most a quarter of a second after the pane's.
func (p Place) size(tty string) (columns, rows int) {
	fd, err := procstat.OpenTerminal(p.Pid, tty)
	if err != nil {
		return p.Columns, p.Rows
	}
	defer unix.Close(fd)
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return p.Columns, p.Rows
	}
	return int(size.Col), int(size.Row)
}

// Job is a command that this server or another one gave to a shell. Its exported fields are
// the content of the file "job".
type Job struct {
	Place
	At time.Time // when
	// Owner is the process of the server that typed it.
	Owner int
	// Lasting is set if the shell itself runs the command.
	Lasting bool `json:",omitempty"`
	// Remote names the shell that runs it, if that cannot read our files. Its process is then the
	// program in the pane that leads to the shell.
	Remote string `json:",omitempty"`
	// Resting is set for a recorder that is waiting for the next command (rest.go).
	Resting bool
	// Machine, Boot and Space are the machine, its boot and the PID namespace to which the numbers
	// belong. Machines may share a home.
	Machine, Boot, Space string
	script

	resumed  bool        // an existing recorder was used
	searched atomic.Bool // all of a recording that is over, for the second mark
}

// ID returns the job's id.
func (j *Job) ID() string { return filepath.Base(j.dir) }

// Visible reports whether the output is on the screen instead of recorded.
func (j *Job) Visible() bool { return j.OnScreen }

// Removed reports whether somebody has removed the files of the job.
func (s script) Removed() bool {
	_, err := os.Lstat(s.dir)
	return errors.Is(err, os.ErrNotExist)
}

// Text returns the first bytes of the command.
func (j *Job) Text() string {
	text, _ := readOwn(j.path("command"), 1000)
	return strings.ToValidUTF8(strings.TrimSpace(string(text)), "")
}

// describe writes the file that describes a job. A server that is killed meanwhile leaves
// the previous description, or an empty one. A new one always has one of two names:
// renaming it over the old one would take longer than a short command, as ext4 then writes
// it to the disk.
func (j *Job) describe() error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	name := j.path("job")
	if _, err := os.Lstat(name); err != nil {
		return os.WriteFile(name, text, 0o600)
	}
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	os.Remove(name)
	return os.Rename(name+".new", name)
}

// noStatus is the content of the file "status" until the command has ended. It is
// overwritten in place, which takes no more space if the disk is full by then.
const noStatus = "   \n"

// ErrNoJob is returned for an id that no job has.
var ErrNoJob = errors.New("no such job")

// Find finds a job of this user by its id.
func Find(id string) (*Job, error) {
	if !jobID().MatchString(id) {
		return nil, ErrNoJob
	}
	homes, _ := candidates()
	for _, home := range homes {
		if j, err := load(home, id); err == nil || !errors.Is(err, os.ErrNotExist) {
			return j, err
		}
	}
	return nil, ErrNoJob
}

// errBoot is returned for a job that ended with the system.
var errBoot = fmt.Errorf("%w: it ran before the system was last started", ErrNoJob)

// mostListed bounds the number of directories that are looked at.
const mostListed = 2000

// Jobs returns this user's jobs on a tmux server that have begun, newest first.
func Jobs(on Place) []*Job {
	return slices.DeleteFunc(described(on), func(j *Job) bool { return j.Resting || j.Look().Phase == Waiting })
}

// A job whose server has returned all of it is forgotten. But others may have found it while it
// ran, and ask what became of it. As with begun, both sides create the same name, kept: who finds
// the job creates a file, and who forgets it a directory.

// Keep keeps the files of a job that was found until they are swept. It returns false if they are
// being removed.
func (j *Job) Keep() bool {
	f, err := os.OpenFile(j.path("kept"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		f.Close()
	case !errors.Is(err, os.ErrExist):
		return !errors.Is(err, os.ErrNotExist)
	}
	// The directory may have got another name, and lost its own, while the file was created.
	info, err := os.Lstat(j.path("kept"))
	return err == nil && info.Mode().IsRegular()
}

// Forget reports whether the files of a job may be removed, since nobody has found it. From
// then on nobody will.
func (j *Job) Forget() bool { return !errors.Is(os.Mkdir(j.path("kept"), 0o700), os.ErrExist) }

// described returns all jobs on a tmux server, newest first, including resting recorders.
func described(on Place) (jobs []*Job) {
	homes, _ := candidates()
	for _, home := range homes {
		for _, id := range jobsIn(home) {
			if j, err := load(home, id); err == nil && j.On(on) {
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
		if jobID().MatchString(e.Name()) && len(ids) < mostListed {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

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
	var text []byte
	for _, name := range []string{"job", "job.new", "job"} { // see describe
		if text, err = readOwn(filepath.Join(dir, name), 64<<10); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	j := &Job{script: script{dir: dir}}
	if err := json.Unmarshal(text, j); err != nil || len(j.Token) != 16 || j.Columns < 0 {
		return nil, fmt.Errorf("%s does not describe a job", filepath.Join(dir, "job"))
	}
	if j.Space != pidSpace() || j.Machine != "" && j.Machine != machineID() {
		return nil, fmt.Errorf("job %s runs on another machine, or in another PID namespace", id)
	}
	if now := bootID(); j.Boot != "" && now != "" && j.Boot != now {
		return nil, errBoot
	}
	return j, nil
}

// Phase is what has become of a job.
type Phase int

// Phases of a job.
const (
	Waiting Phase = iota // the shell has not read the command yet, and may never do so
	Running
	Ended
	Lost // what ran it was killed, and its status is unknown
)

// State is a phase, with the exit status of a job that has ended, and the time of its end
// or of its last sign of life.
type State struct {
	Phase  Phase
	Status int
	At     time.Time
}

// Look determines the state of a job without asking tmux.
func (j *Job) Look() State {
	s, open := j.written()
	if !open {
		return s
	}
	// The mark is printed just before the status is written, and a wait ends with it. Of a job that
	// was killed in between, others may have printed since.
	alive, most := j.alive(), int64(4<<10)
	if j.Remote != "" { // what follows is also recorded
		most = farMark
	}
	if !alive {
		if s, open = j.written(); !open {
			return s
		}
		most = farMark
	}
	status, ended := j.endMark(most)
	if j.Remote != "" && !ended && !j.searched.Load() && j.recorderEnded() { // because it has found the mark, however much came after it
		if status, ended = j.anyEndMark(); !ended {
			j.searched.Store(true)
		}
	}
	if alive && !ended {
		return State{Phase: Running}
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
	if ended {
		return State{Ended, status, last}
	}
	return State{Phase: Lost, At: last}
}

// written returns what the files "begun" and "status" say. open is true if the job has
// begun and nothing says that it has ended.
func (j *Job) written() (s State, open bool) {
	info, err := os.Lstat(j.path("begun"))
	if err != nil {
		return State{Phase: Waiting, At: j.At}, false
	}
	s.At = info.ModTime()
	if info.Size() > 0 {
		return s, false // revoked
	}
	text, _ := readOwn(j.path("status"), 20)
	if s.Status, err = exitStatus(strings.TrimSpace(string(text))); err != nil {
		return s, true
	}
	s.Phase = Ended
	if info, err := os.Lstat(j.path("status")); err == nil {
		s.At = info.ModTime()
	}
	return s, false
}

// revoked is the content of the file "begun" of a command that will not run.
const revoked = "-"

func newJob(at Place, s script) *Job {
	return &Job{Place: at, At: time.Now(), Owner: os.Getpid(), Machine: machineID(), Boot: bootID(), Space: pidSpace(), script: s}
}

// alive reports whether the process that runs the command, or at least its shell, exists.
func (j *Job) alive() bool {
	if there, known := j.process(); known {
		return there && (!j.Lasting || j.holds())
	}
	return !Gone(j.Shell)
}

// attended reports whether the server that typed the command is still waiting for it.
func (j *Job) attended() bool {
	_, err := os.Lstat(j.path("run"))
	return err == nil && !Gone(j.Owner)
}

// pidSpace returns the name of this process's PID namespace, if it has one.
func pidSpace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// machineID identifies the machine, or the container, to others that share files with it.
var machineID = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id")
	return strings.TrimSpace(name + " " + string(id))
})

// PipeIsOurs reports whether the pipe of a pane may be taken: it belongs to a job that is
// over and whose output has all been recorded, or that was stopped, to a resting recorder, or
// to a command whose server was killed before it began.
func PipeIsOurs(at Place) bool {
	for _, j := range described(at) {
		if j.Pane != at.Pane || !j.Recording() {
			continue
		}
		if j.Resting {
			return true
		}
		_, all := j.endMark(farMark)
		phase := j.Look().Phase
		return all && j.hasPipe() || phase == Running && j.Stopped() || phase == Lost || phase == Waiting && Gone(j.Owner)
	}
	return false
}

// PaneJobs returns the jobs of a pane, newest first.
func PaneJobs(at Place) []*Job {
	return slices.DeleteFunc(Jobs(at), func(j *Job) bool { return j.Pane != at.Pane })
}

// Scan gives a sink the lines that a job has printed so far, as long as more returns true;
// it is called at least once per megabyte. whole is true if no lines are missing.
func (j *Job) Scan(sink Sink, more func() bool) (whole bool) {
	r := newTranscriber(j, sink)
	for r.more() {
		if !more() {
			whole = false
			break
		}
		whole = true
	}
	r.close()
	return !r.lost.Load() && (whole || r.size.Load() == 0)
}

package runner

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// ownProcess is the file from which the process that runs a command takes its own line of
// /proc/PID/stat: a pid together with its start time never identifies another process.
const ownProcess = "/proc/self/stat"

// process reports whether the process that runs the command exists, if that is known.
func (j *Job) process() (there, known bool) {
	_, there, known = j.runner()
	return there, known
}

func (j *Job) runner() (p procstat.Process, there, known bool) {
	text, _ := readOwn(j.path("process"), 4<<10)
	noted, err := procstat.Parse(text)
	if err != nil {
		return p, false, false
	}
	p, err = procstat.Of(noted.PID)
	return p, err == nil && p.Started == noted.Started && p.State != 'Z', true
}

// Stopped reports whether a running job was stopped, as by C-z, and its shell has the
// terminal again.
func (j *Job) Stopped() bool {
	p, there, _ := j.runner()
	return there && p.State == 'T' && p.Foreground != p.Group
}

// worksHere reports whether the directory of the command is a process's working directory.
// This is true only of the recorder, so no other process that has reused its pid is taken
// for it.
func (s script) worksHere(pid int) bool {
	at, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false
	}
	dir, err := os.Stat(s.dir)
	return err == nil && os.SameFile(at, dir)
}

// children returns the children of a process.
func children(pid int) (all []procstat.Process) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for child := range strings.FieldsSeq(string(text)) {
		n, _ := strconv.Atoi(child)
		if p, err := procstat.Of(n); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// Drained reports whether the recorder has written everything that tmux gave it: its dd is
// waiting for more.
func (s script) Drained() bool {
	pid, began := s.recorder()
	if !began || !s.worksHere(pid) {
		return false
	}
	all := children(pid)
	return len(all) == 1 && all[0].Name == "dd" && all[0].State == 'S'
}

// reading reports whether the recorder has the pipe: its dd has not ended. The recorder
// itself ends some time after the command, even if the pipe is another's by then.
func (s script) reading() bool {
	pid, _ := s.recorder()
	return slices.ContainsFunc(children(pid), func(p procstat.Process) bool { return p.Name == "dd" && p.State != 'Z' })
}

// freeIn returns how many bytes this user may use in the file system of a directory.
func freeIn(dir string) (int64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * st.Bsize, true
}

// Gone reports whether a process has ended, even if not yet reaped, or is about to.
func Gone(pid int) bool {
	p, err := procstat.Of(pid)
	return err == nil && (p.State == 'Z' || p.Dying) || syscall.Kill(pid, 0) == syscall.ESRCH
}

// Signal sends a signal to the programs of a running job: to the foreground process group
// of its terminal if that is the job's, as Ctrl-C would, otherwise to the job's own group.
// Nothing else gets it: neither other programs that the user runs in the pane nor the
// shell.
func (j *Job) Signal(sig syscall.Signal) error { return j.signal(sig, notedIn) }

// signal is Signal. A job that has just begun takes a moment to note its process.
func (j *Job) signal(sig syscall.Signal, notedIn time.Duration) error {
	p, there, known := j.runner()
	for began := time.Now(); !known && time.Since(began) < notedIn; {
		time.Sleep(10 * time.Millisecond)
		p, there, known = j.runner()
	}
	switch {
	case !known || p.PID == j.Shell:
		return errors.New("which of the programs in the pane are the job's cannot be known")
	case !there:
		return errors.New("it does not run any more")
	}
	group := p.Group
	if leader, err := procstat.Of(p.Foreground); err == nil && p.Foreground != group && descends(leader, p.PID) {
		group = p.Foreground
	}
	forked := becoming(p, group)
	defer func() { signalAgain(forked, sig) }()
	if sig == syscall.SIGINT || group != p.Group {
		// What runs the command traps interrupts.
		if err := syscall.Kill(-group, sig); err != nil {
			return err
		}
		return syscall.Kill(-group, syscall.SIGCONT)
	}
	for _, other := range members(group) {
		if other.PID != p.PID {
			_ = syscall.Kill(other.PID, sig)
		}
	}
	return syscall.Kill(-group, syscall.SIGCONT)
}

const (
	// becomesIn is how long a process may take from its fork to its program.
	becomesIn = 2 * time.Second
	// notedIn is how long a shell may take between its mark that the job has begun and
	// noting its process, which happens while it can be interrupted.
	notedIn = 10 * time.Second
)

// members returns the processes of a group.
func members(group int) (all []procstat.Process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := procstat.Of(pid); err == nil && p.Group == group {
			all = append(all, p)
		}
	}
	return all
}

// becoming returns a process and its descendants in a group, as far as they may be about to
// run another program: they were forked, still run the shell's program, and are not
// sleeping. Such a process handles a signal as the shell does, and forgets it.
func becoming(p procstat.Process, group int) (all []procstat.Process) {
	if p.Group == group && p.Forked && p.State != 'S' && p.State != 'Z' {
		all = append(all, p)
	}
	for _, child := range children(p.PID) {
		all = append(all, becoming(child, group)...)
	}
	return all
}

// signalAgain signals those of the processes that have since become another program.
func signalAgain(forked []procstat.Process, sig syscall.Signal) {
	for began := time.Now(); len(forked) > 0 && time.Since(began) < becomesIn; time.Sleep(10 * time.Millisecond) {
		forked = slices.DeleteFunc(forked, func(p procstat.Process) bool {
			now, err := procstat.Of(p.PID)
			there := err == nil && now.Started == p.Started && now.State != 'Z'
			if there && !now.Forked {
				_ = syscall.Kill(p.PID, sig)
			}
			return !there || !now.Forked
		})
	}
}

// descends reports whether a process is a descendant of another one.
func descends(p procstat.Process, from int) bool {
	for range 1000 {
		if p.PID == from {
			return true
		}
		parent, err := procstat.Of(p.Parent)
		if err != nil || p.Parent <= 1 {
			return false
		}
		p = parent
	}
	return false
}

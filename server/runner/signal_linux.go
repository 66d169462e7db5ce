package runner

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"

	"tmuxmcp/internal/procstat"
)

// ownProcess makes the process that runs a command note its line of /proc/PID/stat:
// the number of a process and the time when it began belong to no other one, ever.
const ownProcess = "/proc/self/stat"

// process reports whether the process that runs the command is there, if that is known.
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

// gone reports whether a process has ended, maybe unnoticed by its parent.
func gone(pid int) bool {
	p, err := procstat.Of(pid)
	return err == nil && p.State == 'Z' || syscall.Kill(pid, 0) == syscall.ESRCH
}

// Signal sends a signal to the programs of a running job: the foreground process group of
// its terminal if that is the job's, which Ctrl-C would reach, else its own group.
// No others get it: neither what the user runs meanwhile in the pane nor the shell.
func (j *Job) Signal(sig syscall.Signal) error {
	p, there, known := j.runner()
	// A job that has just begun notes its process in a moment.
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
	// A process that was only forked, and runs no program of its own yet, would swallow it.
	for range 5 {
		if newest(group) >= settled {
			break
		}
		time.Sleep(settled)
	}
	if sig == syscall.SIGINT || group != p.Group {
		// What runs the command traps an interrupt.
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
	// settled is how old the processes of a job must be to be signalled.
	settled = 60 * time.Millisecond
	// notedIn is how long a shell may take between its mark that the job has begun and the
	// note of its process.
	notedIn = time.Second
)

// members are the processes of a group.
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

// newest is the age of the youngest process of a group.
func newest(group int) time.Duration {
	least := time.Hour
	for _, p := range members(group) {
		least = min(least, p.Age)
	}
	return least
}

// descends reports whether a process was started by another one, or by one that was.
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

package runner

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	return p, err == nil && exists(noted), true
}

// exists reports whether a process has not ended.
func exists(p procstat.Process) bool {
	now, err := procstat.Of(p.PID)
	return err == nil && now.Started == p.Started && now.State != 'Z'
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

// bootID identifies the time since the system was started; "" if it is unknown.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

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
	pid, began := s.recorderPID()
	if !began || !s.worksHere(pid) {
		return false
	}
	return slices.ContainsFunc(children(pid), func(p procstat.Process) bool { return p.Name == "dd" && p.State == 'S' })
}

// hasPipe reports whether the recorder has the pipe: its dd has not ended. The recorder
// itself ends some time after the command, even if the pipe is another's by then.
func (s script) hasPipe() bool {
	pid, _ := s.recorderPID()
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

// Signal sends a signal to the programs of a running job: to those in the foreground of its
// terminal if that is the job's, as Ctrl-C would, otherwise to those in the job's own
// group. Nothing else gets it: neither other programs that the user runs in the pane, which
// are in the same group if their shell has no job control, nor the shell.
func (j *Job) Signal(sig syscall.Signal) error { return j.signal(sig, notedIn) }

// signal does what Signal does. It waits at most notedIn for a job that has just begun to note its
// process.
func (j *Job) signal(sig syscall.Signal, notedIn time.Duration) error {
	p, there, known := j.runner()
	for began := time.Now(); !known && time.Since(began) < notedIn; {
		time.Sleep(10 * time.Millisecond)
		p, there, known = j.runner()
	}
	switch {
	case known && there && j.Lasting:
		return j.signalShell(p, sig)
	case !known || p.PID == j.Shell:
		return errors.New("which of the programs in the pane are the job's cannot be known")
	case !there:
		return fmt.Errorf("it does not run any more: %w", os.ErrProcessDone)
	}
	group := p.Group
	// The leader of the foreground, as the first program of a pipeline, may have ended.
	if slices.ContainsFunc(members(p.Foreground), func(other procstat.Process) bool { return descends(other, p.PID, 0) }) {
		group = p.Foreground
	}
	forked := becoming(p, group)
	own, alone := programs(p, group)
	defer func() { signalAgain(forked, own, sig) }()
	if alone && (sig == syscall.SIGINT || group != p.Group) {
		// What runs the command traps interrupts.
		if err := syscall.Kill(-group, sig); err != nil {
			return err
		}
		_ = syscall.Kill(-group, syscall.SIGCONT) // all may have ended
		return nil
	}
	within := group
	if sig != syscall.SIGINT && group == p.Group { // also what has left it, such as timeout
		within = 0
		own = join(own, descendants(p), within)
	}
	// Others may have been forked meanwhile; or because of the signal, if a program catches
	// it.
	caught := slices.ContainsFunc(own, func(other procstat.Process) bool { return other.PID != p.PID && catches(other, sig) })
	sent := own
	for round, next := 0, 0; next < len(sent) && round < 20; round++ {
		for ; next < len(sent); next++ {
			other := sent[next]
			if other.PID != p.PID || sig == syscall.SIGINT {
				send(other, sig)
			}
			send(other, syscall.SIGCONT)
			// A shell does nothing because of an interrupt before its program has ended.
			sent = join(sent, children(other.PID), within)
		}
		if !caught {
			more, _ := programs(p, group)
			sent = join(sent, slices.DeleteFunc(more, func(other procstat.Process) bool { return other.Parent == p.PID }), within) // ksh93 goes on with the next program
		}
	}
	if sig == syscall.SIGINT || !strings.HasPrefix(p.Name, "ksh") {
		return nil
	}
	// In ksh93 what runs the command also runs its loops and builtins. Any signal but an
	// interrupt would keep it from reporting the end. If it goes on, though all that got the
	// signal have ended, it is in a loop.
	for began := time.Now(); exists(p) && time.Since(began) < reportsIn; {
		time.Sleep(10 * time.Millisecond)
	}
	if !slices.ContainsFunc(sent, func(other procstat.Process) bool { return other.PID != p.PID && exists(other) }) {
		send(p, syscall.SIGINT)
	}
	return nil
}

// signalShell signals what runs in the foreground of a shell that runs a lasting command, or
// interrupts the shell itself.
func (j *Job) signalShell(shell procstat.Process, sig syscall.Signal) error {
	switch {
	case !j.holds():
		return fmt.Errorf("it does not run any more: %w", os.ErrProcessDone)
	case shell.Foreground == shell.Group && sig != syscall.SIGINT:
		return fmt.Errorf("it runs in the shell of the pane, which would get the signal; an interrupt ends it")
	}
	if err := syscall.Kill(-shell.Foreground, sig); err != nil {
		return err
	}
	_ = syscall.Kill(-shell.Foreground, syscall.SIGCONT) // all may have ended
	return nil
}

// join appends those processes of a group, or of any if it is 0, that are not in a list.
func join(list, more []procstat.Process, group int) []procstat.Process {
	for _, p := range more {
		if (p.Group == group || group == 0) && p.State != 'Z' && !slices.ContainsFunc(list, func(other procstat.Process) bool { return other.PID == p.PID && other.Started == p.Started }) {
			list = append(list, p)
		}
	}
	return list
}

// descendants returns the processes that a process has started, and theirs, parents first.
func descendants(p procstat.Process) (all []procstat.Process) {
	for _, child := range children(p.PID) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}

// programs returns what belongs to a job in a process group, oldest first: the process that
// runs it and its descendants; and, if the leader of the group is one of these, processes
// whose parents have ended. It reports whether the group has no others.
func programs(p procstat.Process, group int) (own []procstat.Process, alone bool) {
	led := 0
	if group != p.Group || group == p.PID {
		led = group
	}
	alone = led != 0
	for _, other := range members(group) {
		if descends(other, p.PID, led) {
			own = append(own, other)
		} else {
			alone = false
		}
	}
	slices.SortFunc(own, func(a, b procstat.Process) int { return cmp.Or(cmp.Compare(a.Started, b.Started), a.PID-b.PID) })
	return own, alone
}

// adopted reports whether the parent of a process has ended: a process begins in the
// session of its parent.
func adopted(p procstat.Process) bool {
	parent, err := procstat.Of(p.Parent)
	return p.Session != p.PID && (err != nil || parent.Session != p.Session)
}

func catches(p procstat.Process, sig syscall.Signal) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	_, rest, _ := bytes.Cut(status, []byte("\nSigCgt:\t"))
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	caught, _ := strconv.ParseUint(string(digits), 16, 64)
	return caught>>(sig-1)&1 != 0
}

// send signals a process, and no other one that has its pid by now.
func send(p procstat.Process, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	switch {
	case err == nil:
		defer unix.Close(fd)
		if exists(p) {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
		}
	case exists(p): // an old kernel
		_ = syscall.Kill(p.PID, sig)
	}
}

const (
	// reportsIn is how long a shell may take to report the end of a command.
	reportsIn = 500 * time.Millisecond
	// becomesIn is how long a process may take from its fork to its program.
	becomesIn = 2 * time.Second
	// notedIn is how long a shell may take between its mark that the job has begun and
	// noting its process, which happens while it can be interrupted.
	notedIn = 10 * time.Second
)

func members(group int) (all []procstat.Process) {
	return slices.DeleteFunc(procstat.All(), func(p procstat.Process) bool { return p.Group != group || p.State == 'Z' })
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

// signalAgain signals those of the processes that have since become another program and, if
// they were interrupted, the programs that they have started since then. known had the signal.
func signalAgain(forked, known []procstat.Process, sig syscall.Signal) {
	for began := time.Now(); len(forked) > 0 && time.Since(began) < becomesIn; time.Sleep(10 * time.Millisecond) {
		for i := 0; i < len(forked) && sig == syscall.SIGINT; i++ {
			for _, child := range join(nil, children(forked[i].PID), forked[i].Group) {
				before := len(known)
				if child.Forked {
					forked = join(forked, []procstat.Process{child}, 0)
				} else if known = join(known, []procstat.Process{child}, 0); len(known) > before {
					send(child, sig)
				}
			}
		}
		forked = slices.DeleteFunc(forked, func(p procstat.Process) bool {
			now, err := procstat.Of(p.PID)
			if err == nil && !now.Forked {
				send(p, sig)
			}
			return !exists(p) || !now.Forked
		})
	}
}

// descends reports whether a process is a descendant of another one, or of one in a group
// whose parent has ended.
func descends(p procstat.Process, from, group int) bool {
	for range 1000 {
		if p.PID == from || p.Group == group && adopted(p) {
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

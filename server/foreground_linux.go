package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is what /proc/PID/stat tells.
type process struct {
	name       string
	state      byte
	parent     int
	terminal   int // the number of its terminal's device
	foreground int // the process group that the terminal listens to
	forked     bool
	age        time.Duration
}

const (
	forkNoExec     = 0x40 // PF_FORKNOEXEC: it runs its parent's program, as a subshell does
	ticksPerSecond = 100  // USER_HZ, the same on every architecture
)

func statOf(pid int) (p process, err error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, err
	}
	// The name stands in parentheses and may hold any byte.
	open, shut := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || shut < open {
		return p, fmt.Errorf("the state of process %d is not readable", pid)
	}
	f := strings.Fields(string(stat[shut+1:]))
	if len(f) < 20 {
		return p, fmt.Errorf("the state of process %d is not readable", pid)
	}
	number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	p = process{
		name: string(stat[open+1 : shut]), state: f[0][0], parent: number(1), terminal: number(4), foreground: number(5),
		forked: number(6)&forkNoExec != 0,
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) == nil {
		started := time.Duration(number(19)) * (time.Second / ticksPerSecond)
		p.age = max(0, time.Duration(now.Nano())-started)
	}
	return p, nil
}

// foregroundOf finds the program that reads what is typed into a pane: the
// leader of the process group in the foreground of the pane's terminal.
func foregroundOf(p runPane) (foreground, error) {
	first, err := statOf(p.PID)
	if err != nil {
		return foreground{}, err
	}
	fg := foreground{pid: first.foreground, name: p.Command}
	leader, err := statOf(fg.pid)
	if err != nil {
		return fg, nil // of a pipeline whose first program has ended
	}
	fg.age = leader.age
	proc := "/proc/" + strconv.Itoa(fg.pid) + "/"
	cmdline, _ := os.ReadFile(proc + "cmdline")
	args := strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	fg.name = strings.TrimPrefix(filepath.Base(args[0]), "-")
	if exe, err := os.Readlink(proc + "exe"); err == nil {
		fg.path = strings.TrimSuffix(exe, " (deleted)")
	}
	shell := shellOf(fg.path, fg.name)
	if shell == nil {
		return fg, nil
	}
	if leader.forked || !interactive(args) {
		fg.name = runningIn(fg.pid, fg.name)
		return fg, nil
	}
	fg.shell = shell
	if _, err := os.Stat(fg.path); err != nil {
		fg.path = fg.name
	}
	editing := lineEditing(p.TTY)
	waiting := false
	if leader.state == 'S' && !shell.edits {
		where, _ := os.ReadFile(proc + "wchan")
		waiting = string(where) != "do_wait"
	}
	fg.prompt = editing || waiting
	return fg, nil
}

// runningIn names what runs in a subshell or script: the program it has started,
// if it has.
func runningIn(pid int, shell string) string {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid)
	children, _ := os.ReadFile(dir + "/children")
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			if p, err := statOf(n); err == nil && !p.forked {
				return p.name
			} else if err == nil {
				return runningIn(n, shell)
			}
		}
	}
	return "a command or script of " + shell
}

// lineEditing tells whether a program edits the line that is typed on a
// terminal, for which it turns the terminal's own line discipline off. Shells do
// so at their prompt and never while a command runs.
func lineEditing(tty string) bool {
	f, err := unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(f)
	t, err := unix.IoctlGetTermios(f, unix.TCGETS)
	return err == nil && t.Lflag&unix.ICANON == 0
}

// reaches tells whether the program can read a file of this one: whether it runs
// as the same user, or root, and sees the same files.
func (f foreground) reaches(path string) error {
	proc := "/proc/" + strconv.Itoa(f.pid)
	if fi, err := os.Stat(proc); err == nil {
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() && st.Uid != 0 {
			return fmt.Errorf("runs as another user")
		}
	}
	here, err := os.Stat(path)
	if err != nil {
		return err
	}
	there, err := os.Stat(proc + "/root" + path)
	if os.IsPermission(err) {
		return nil // not to be known
	}
	if err != nil || !os.SameFile(here, there) {
		return fmt.Errorf("sees other files than this server, as in a container")
	}
	return nil
}

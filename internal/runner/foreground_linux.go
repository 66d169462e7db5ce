package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// ForegroundOf finds the program that reads what is typed into a pane: the leader of the
// foreground process group of the pane's terminal.
func ForegroundOf(pid int, tty, command string) (Foreground, error) {
	first, err := procstat.Of(pid)
	if err != nil {
		return Foreground{}, err
	}
	fg, leader := programOf(first.Foreground, command)
	if leader.PID == 0 && shellOf(first.Name, first.Name) != nil {
		fg.Name = first.Name // tmux says how the pane was started
	}
	if fg.shell == nil {
		return fg, nil
	}
	plain, read := fg.readTerminal(pid, tty)
	fg.Waiting, fg.tty = read && leader.State == 'S', tty
	fg.Prompt = fg.editing || plain && !fg.shell.edits && leader.State == 'S' && fg.shell.readsLines("/proc/"+strconv.Itoa(fg.PID)+"/")
	return fg, nil
}

// WasAtPrompt reports whether what was typed so long ago, at most, was typed at the prompt of
// a shell, given the text that was left of the cursor before. The shell may have begun to
// run it: then a program is in the foreground that is not older. ran reports whether one is.
func WasAtPrompt(pid int, tty, left string, ago time.Duration) (was, ran bool) {
	begun := time.Now()
	for pause := 200 * time.Microsecond; pause < 40*time.Millisecond; pause *= 2 {
		f, err := ForegroundOf(pid, tty, "")
		if err != nil {
			return false, ran
		}
		ran = ran || f.PID != pid
		below, gone := 0, false
		for ; f.shell == nil; below++ {
			p, err := procstat.Of(f.PID)
			if gone = err != nil; gone {
				break
			}
			if older(p.Age(), ago+time.Since(begun)) || below == mostBelow {
				return false, ran
			}
			f, _ = programOf(p.Parent, "")
			f.tty = tty
		}
		if !gone && (below > 0 || f.Prompt) {
			return f.AtPrompt(left), ran
		}
		time.Sleep(pause) // it may be about to run it, or what it has run has just ended
	}
	return false, ran
}

// BegunSince reports whether a program other than this one runs in its session that has been
// running for no longer than so long: what a line has begun in the background. One that is
// stopped does not count, nor one that this one runs in, such as su.
func (f Foreground) BegunSince(ago time.Duration) bool {
	own, err := procstat.Of(f.PID)
	if err != nil {
		return false
	}
	outer := []int{f.PID}
	for above := own; above.PID != own.Session && len(outer) < mostAbove; {
		if above, err = procstat.Of(above.Parent); err != nil {
			break
		}
		outer = append(outer, above.PID)
	}
	for _, pid := range procstat.Sessions([]int{own.Session})[own.Session] {
		p, err := procstat.Of(pid)
		if err == nil && !slices.Contains(outer, pid) && p.State != 'T' && p.State != 'Z' && !p.Dying && !older(p.Age(), ago) {
			return true
		}
	}
	return false
}

// mostAbove is how many programs a shell may run in.
const mostAbove = 64

// mostBelow is how many processes below a shell the leader of its job may be.
const mostBelow = 4

// programOf returns what is known of a program without its terminal, and its process: zero if it
// has just ended, is ending, or was the first of a pipeline.
func programOf(pid int, command string) (fg Foreground, leader procstat.Process) {
	fg = Foreground{PID: pid, Name: command}
	leader, err := procstat.Of(fg.PID)
	proc := "/proc/" + strconv.Itoa(fg.PID) + "/"
	cmdline, _ := os.ReadFile(proc + "cmdline")
	if err != nil || leader.State == 'Z' || leader.Dying || len(cmdline) == 0 {
		return fg, procstat.Process{}
	}
	fg.Age = leader.Age()
	args := strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	if filepath.Base(args[0]) == "busybox" && len(args) > 1 { // the program is its first argument
		args = args[1:]
	}
	fg.Name = strings.TrimPrefix(filepath.Base(args[0]), "-")
	if exe, err := os.Readlink(proc + "exe"); err == nil {
		fg.path = strings.TrimSuffix(exe, " (deleted)")
	}
	shell := shellOf(fg.path, fg.Name)
	if shell == nil {
		return fg, leader
	}
	if leader.Forked || !interactive(args) {
		var alone bool
		if fg.Name, alone = runningIn(fg.PID, fg.Name); alone {
			fg.Age = 0 // it may be about to end, as what ran the last command is
		}
		return fg, leader
	}
	fg.shell = shell
	if _, err := os.Stat(fg.path); err != nil {
		fg.path = fg.Name
	}
	return fg, leader
}

// Held reports whether the terminal is known to hold back what the shell writes, as after
// C-s.
func (f Foreground) Held() bool {
	proc := "/proc/" + strconv.Itoa(f.PID) + "/"
	call, _ := os.ReadFile(proc + "syscall") // number, file, …
	words := strings.Fields(string(call))
	if len(words) < 2 || words[0] != strconv.Itoa(unix.SYS_WRITE) {
		return false
	}
	fd, err := strconv.ParseUint(strings.TrimPrefix(words[1], "0x"), 16, 32)
	file, _ := os.Readlink(proc + "fd/" + strconv.FormatUint(fd, 10))
	return err == nil && file == f.tty
}

// Draw writes text to the terminal of a shell that is waiting for a line, within a time, and
// reports whether it has.
func (f Foreground) Draw(text string, limit time.Duration) bool {
	if !f.Prompt || !f.Waiting {
		return false
	}
	fd, err := procstat.OpenTerminal(f.PID, f.tty)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// Do not wait for output that is held back, as after C-s.
	tty, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	if tty.SetWriteDeadline(time.Now().Add(limit)) != nil {
		return false
	}
	_, err = tty.WriteString(text)
	return err == nil
}

// readsLines reports whether a shell without line editing is waiting for a line, and not
// for a child nor, as far as the system shows what it reads, in its builtin read.
func (d *dialect) readsLines(proc string) bool {
	where, _ := os.ReadFile(proc + "wchan")
	return string(where) != "do_wait" && !(d.gathers && readSize(proc) == 1)
}

// ReadsLine reports whether the system shows that the shell reads a whole line from the
// terminal, which in some shells the builtin read does not.
func (f Foreground) ReadsLine() bool {
	return f.shell.gathers && readSize("/proc/"+strconv.Itoa(f.PID)+"/") > 1
}

// readSize returns how many bytes a process is waiting to read, 0 if it does not read.
func readSize(proc string) uint64 {
	call, _ := os.ReadFile(proc + "syscall") // number, arguments…
	words := strings.Fields(string(call))
	if len(words) < 4 || words[0] != strconv.Itoa(unix.SYS_READ) {
		return 0
	}
	size, _ := strconv.ParseUint(strings.TrimPrefix(words[3], "0x"), 16, 64)
	return size
}

// unseenPrompt reports whether the prompt is printed elsewhere, or the one that the shell
// was started with is empty or a word. Prompts set by start-up files are not known.
func (f Foreground) unseenPrompt() bool {
	proc := "/proc/" + strconv.Itoa(f.PID)
	for _, fd := range []string{"1", "2"} {
		if file, err := os.Readlink(proc + "/fd/" + fd); err == nil && file != f.tty {
			return true
		}
	}
	env, _ := os.ReadFile(proc + "/environ")
	for v := range strings.SplitSeq(string(env), "\x00") {
		if prompt, ok := strings.CutPrefix(v, "PS1="); ok {
			return !promptMark().MatchString(prompt)
		}
	}
	return false
}

// runningIn returns the name of what runs in a subshell or script: the program that it has
// started, if any. alone is set if there is none.
func runningIn(pid int, shell string) (name string, alone bool) {
	started := slices.DeleteFunc(children(pid), func(p procstat.Process) bool { return p.State == 'Z' || p.Dying })
	switch {
	case len(started) == 0:
		return "a command or script of " + shell, true
	case started[0].Forked:
		return runningIn(started[0].PID, shell)
	}
	return started[0].Name, false
}

// MostLine is how many bytes of a line, without its end, a terminal that gathers lines keeps.
const MostLine = procstat.MostLine

// CutsLines reports whether the terminal of a pane gathers lines, if that is known.
func CutsLines(pid int, tty string) bool {
	t, _, err := procstat.Terminal(pid, tty)
	return err == nil && t.Lflag&unix.ICANON != 0
}

// Unread reports whether a program that gets each key at once is known to have left some of what
// was typed unread.
func Unread(pid int, tty string) bool {
	t, unread, err := procstat.Terminal(pid, tty)
	return err == nil && t.Lflag&unix.ICANON == 0 && unread > 0
}

// readTerminal reads the settings of a terminal, and sets f.editing if they are those of
// the shell's line editor. plain reports whether the terminal itself edits and echoes a
// line, and read whether everything that was typed has been read.
func (f *Foreground) readTerminal(pid int, tty string) (plain, read bool) {
	f.Interrupt = ctrlC
	t, unread, err := procstat.Terminal(pid, tty)
	if err != nil {
		return false, false
	}
	local := func(flag uint32) bool { return t.Lflag&flag != 0 }
	f.editing = !local(unix.ICANON) && !local(unix.ECHO) && f.shell.editor(t.Iflag, t.Lflag)
	f.kill = t.Cc[unix.VKILL]
	if c := t.Cc[unix.VINTR]; c != 0 && local(unix.ISIG) {
		f.Interrupt = c
	}
	return local(unix.ICANON) && local(unix.ECHO), unread == 0
}

// editor reports whether a terminal that neither gathers lines nor echoes is set as this
// shell's line editor leaves it. A builtin that reads a key without echo leaves the other
// settings alone: seen in bash 5.2, zsh 5.9, fish 3.6, ksh93u+m, mksh 59 and busybox 1.35.
func (d *dialect) editor(input, local uint32) bool {
	switch d.state {
	case returnsStay:
		return input&unix.ICRNL == 0
	case returnsSwapped:
		return input&unix.INLCR != 0
	case noExtensions:
		return local&unix.IEXTEN == 0
	case noSignals:
		return local&unix.ISIG == 0 || input&unix.ICRNL == 0
	}
	return true
}

// Reaches returns why the program cannot read the files of a command: it runs as another
// user than root, or sees other files. It returns nil if that is unknown.
func (f Foreground) Reaches(c *Command) error {
	path := c.path("run")
	proc := "/proc/" + strconv.Itoa(f.PID)
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
		return nil
	}
	if err != nil || !os.SameFile(here, there) {
		return fmt.Errorf("sees other files than this server, as in a container")
	}
	return nil
}

// stat returns the program's line of /proc/PID/stat.
func (f Foreground) stat() (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(f.PID) + "/stat")
	return string(text), err
}

// Relays reports whether a program in a pane may pass its terminal on to another one: it gets
// every key unchanged, also those that make signals. That leaves out what edits lines itself, or
// does not read.
func Relays(pid int, tty string) bool {
	t, _, err := procstat.Terminal(pid, tty)
	return err == nil && t.Lflag&(unix.ICANON|unix.ISIG|unix.ECHO) == 0
}

// Dir reports why the shell cannot run anything in a directory, absolute or below the shell's
// own one; nil if that is unknown.
func (f Foreground) Dir(dir string) error {
	proc := "/proc/" + strconv.Itoa(f.PID)
	if filepath.IsAbs(dir) {
		return isDirectory(dir, proc+"/root"+dir)
	}
	return isDirectory(dir, proc+"/cwd/"+dir)
}

// uses reports whether the shell has a file descriptor.
func (f Foreground) uses(descriptor int) bool {
	_, err := os.Lstat(fmt.Sprintf("/proc/%d/fd/%d", f.PID, descriptor))
	return !errors.Is(err, os.ErrNotExist)
}

// holds reports whether the shell that runs a lasting command is still within it, or may be.
func (j *Job) holds() bool {
	p, _, _ := j.runner()
	open := "/proc/" + strconv.Itoa(p.PID) + "/fd/"
	entries, err := os.ReadDir(open)
	held, unknown := os.Stat(j.path("held"))
	if err != nil || unknown != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { // fish opens it under another number
		file, err := os.Stat(open + e.Name())
		return err == nil && os.SameFile(held, file)
	})
}

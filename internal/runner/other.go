//go:build !linux

package runner

import (
	"context"
	"errors"
	"math"
	"sync"
	"syscall"
	"time"
)

// Only Linux shows who reads what is typed into a pane, which processes are a job's, and what other
// servers do.

// ForegroundOf knows only what tmux does: the name of the program. Whether a shell is at
// its prompt is unknown, and assumed.
func ForegroundOf(pid int, _, command string) (Foreground, error) {
	shell := shellOf(command, command)
	return Foreground{
		PID: pid, Name: command, path: command, shell: shell, Prompt: true, Waiting: true,
		editing: shell != nil && shell.edits, kill: ctrlU, Interrupt: ctrlC,
	}, nil
}

// bootID identifies the time since the system was started; "" if it is unknown.
var bootID = sync.OnceValue(func() string {
	id, _ := syscall.Sysctl("kern.bootsessionuuid") // macOS
	return id
})

// WasAtPrompt is not known here.
func WasAtPrompt(int, string, string, time.Duration) (was, ran bool) { return false, false }

// BegunSince is not known here.
func (Foreground) BegunSince(time.Duration) bool { return false }

// Reaches assumes that a shell can read this program's files.
func (Foreground) Reaches(*Command) error { return nil }

// Draw does nothing here, since a shell may not be at its prompt.
func (Foreground) Draw(string, time.Duration) bool { return false }

// ReadsLine is unknown here.
func (Foreground) ReadsLine() bool { return false }

// Held is unknown here.
func (Foreground) Held() bool { return false }

func (Foreground) unseenPrompt() bool { return true }

// MostLine is unlimited here, because the limit is unknown.
const MostLine = math.MaxInt

// CutsLines is not supported here.
func CutsLines(int, string) bool { return false }

// Unread is unknown here.
func Unread(int, string) bool { return false }

// ownProcess is what a process can read about itself: nothing here.
const ownProcess = ""

// Stopped is unknown here.
func (j *Job) Stopped() bool { return false }

func (j *Job) process() (there, known bool) { return false, false }

// holds is unknown here.
func (j *Job) holds() bool { return true }

// uses is unknown here.
func (Foreground) uses(int) bool { return false }

// Dir reports why the shell cannot run anything in a directory, as far as that is known here.
func (Foreground) Dir(dir string) error { return isDirectory(dir, dir) }

// stat is unknown here.
func (Foreground) stat() (string, error) { return "", errors.ErrUnsupported }

// Relays is unknown here.
func Relays(int, string) bool { return false }

// worksHere assumes that the pid of a recorder is not reused.
func (s script) worksHere(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Drained reports whether the recorder has written everything that tmux gave it, which is
// unknown here.
func (s script) Drained() bool { return false }

// hasPipe reports whether the recorder has the pipe, which is unknown here.
func (s script) hasPipe() bool { return true }

func freeIn(string) (int64, bool) { return 0, false }

// Gone reports whether a process has ended.
func Gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// Signal fails: it is unknown here which programs in a pane belong to a job.
func (j *Job) Signal(syscall.Signal) error {
	return errors.New("on this system it is not known which programs in the pane are the job's")
}

// lock does not detect other servers on this system.
func (f *Files) lock(context.Context, string, time.Duration) (release func(), waited, ok bool) {
	return func() {}, false, true
}

// watch announces nothing here.
func watch(string, <-chan struct{}) (changes <-chan struct{}, ok bool) { return nil, false }

// Reader is unknown here.
type Reader struct{ Foreground }

// ReaderOf is not supported here.
func ReaderOf(int, string) Reader { return Reader{} }

// Known reports that nothing is known.
func (Reader) Known() bool { return false }

// Same is unknown here.
func (Reader) Same(Reader) bool { return false }

// Leads is unknown here.
func (Reader) Leads(Reader) bool { return false }

// Ended is unknown here.
func (Reader) Ended() bool { return false }

// AtOnce is unknown here.
func AtOnce(int, string) (takes, known bool) { return false, false }

// ReadsSignals is unknown here.
func ReadsSignals(int, string) bool { return false }

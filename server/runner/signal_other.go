//go:build !linux

package runner

import (
	"errors"
	"syscall"
)

// ownProcess is what a process can read about itself: nothing here.
const ownProcess = ""

func (j *Job) process() (there, known bool) { return false, false }

// worksHere assumes that the pid of a recorder is not reused.
func (s script) worksHere(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Drained reports whether the recorder has written everything that tmux gave it, which is
// unknown here.
func (s script) Drained() bool { return false }

// reading reports whether the recorder has the pipe, which is unknown here.
func (s script) reading() bool { return true }

func freeIn(string) (int64, bool) { return 0, false }

// Gone reports whether a process has ended.
func Gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// Signal fails: it is unknown here which programs in a pane belong to a job.
func (j *Job) Signal(syscall.Signal) error {
	return errors.New("on this system it is not known which programs in the pane are the job's")
}

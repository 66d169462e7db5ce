//go:build !linux

package runner

import (
	"errors"
	"syscall"
)

// ownProcess is what a process can read of itself: nothing here.
const ownProcess = ""

func (j *Job) process() (there, known bool) { return false, false }

// worksHere takes for granted that no other process has got the number of a recorder.
func (s script) worksHere(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Drained reports whether the recorder has written all that tmux gave it, which is not known.
func (s script) Drained() bool { return false }

// reading reports whether the recorder has the pipe, which is not known.
func (s script) reading() bool { return true }

func freeIn(string) (int64, bool) { return 0, false }

// Gone reports whether a process has ended.
func Gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// Signal fails: which of the programs in a pane are a job's is not known here.
func (j *Job) Signal(syscall.Signal) error {
	return errors.New("on this system it is not known which programs in the pane are the job's")
}

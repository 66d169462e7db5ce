//go:build !linux

package runner

import (
	"errors"
	"syscall"
)

// ownProcess is what a process can read of itself: nothing here.
const ownProcess = ""

func (j *Job) process() (there, known bool) { return false, false }

// gone reports whether a process has ended.
func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// Signal fails: which of the programs in a pane are a job's is not known here.
func (j *Job) Signal(syscall.Signal) error {
	return errors.New("on this system it is not known which programs in the pane are the job's")
}

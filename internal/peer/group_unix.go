//go:build unix

package peer

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes a command the leader of its own process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process group of a leader, which may have exited.
func killGroup(leader *os.Process) error { return syscall.Kill(-leader.Pid, syscall.SIGKILL) }

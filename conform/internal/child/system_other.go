//go:build !linux

package child

import "syscall"

// Systems other than Linux have no way to adopt a daemon's processes: there the
// script's process asks the tmux server to exit, what is in its process group
// is killed, and that is all.

func endTree(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

func below() (processes, memory int) { return 0, 0 }

// LimitFiles does nothing: other systems have no useful bound of this kind.
func LimitFiles() {}

package procstat

import (
	"os"

	"golang.org/x/sys/unix"
)

// Ancestors returns this process and its ancestors, nearest first, of which only PID and
// Parent are known.
func Ancestors() (all []Process) {
	for pid := os.Getpid(); pid > 1 && len(all) < mostAncestors; {
		p := Process{PID: pid}
		if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
			p.Parent = int(info.Eproc.Ppid)
		}
		all = append(all, p)
		pid = p.Parent
	}
	return all
}

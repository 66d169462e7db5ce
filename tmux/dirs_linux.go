package tmux

import (
	"os"

	"tmuxmcp/internal/procstat"
)

// sharesFiles reports whether a process is known to see the same files as this one, as the
// same user.
func sharesFiles(pid int) bool {
	for _, link := range []string{"ns/mnt", "ns/user", "root"} {
		its, err := os.Readlink(procstat.File(pid, link))
		own, err2 := os.Readlink(procstat.File(os.Getpid(), link))
		if err != nil || err2 != nil || its != own {
			return false
		}
	}
	info, err := os.Stat(procstat.File(pid, ""))
	if err != nil {
		return false
	}
	uid, _ := ownerOf(info)
	return uid == os.Geteuid()
}

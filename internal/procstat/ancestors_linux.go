package procstat

import "os"

// Ancestors returns this process and its ancestors, nearest first.
func Ancestors() (all []Process) {
	for pid := os.Getpid(); pid > 1 && len(all) < mostAncestors; {
		p, err := Of(pid)
		if err != nil {
			break
		}
		all = append(all, p)
		pid = p.Parent
	}
	return all
}

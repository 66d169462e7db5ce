//go:build !linux

package caller

import "tmuxmcp/internal/procstat"

// ancestors returns this process and its ancestors, nearest first, without their
// environments.
func ancestors() (all []ancestor) {
	for _, p := range procstat.Ancestors() {
		all = append(all, ancestor{pid: p.PID})
	}
	return all
}

// WhichRun is not supported here.
func WhichRun(string, []int) (at map[int]bool, known bool) { return nil, false }

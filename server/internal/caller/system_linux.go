package caller

import (
	"os"
	"slices"
	"strings"

	"tmuxmcp/internal/procstat"
)

// ancestors returns this process and its ancestors, nearest first.
func ancestors() (all []ancestor) {
	for _, p := range procstat.Ancestors() {
		a := ancestor{pid: p.PID, program: procstat.Program(p.PID)}
		// The environment of this process itself was passed in.
		if environ, err := os.ReadFile(procstat.File(p.PID, "environ")); err == nil && len(all) > 0 {
			a.env = map[string]string{}
			for kv := range strings.SplitSeq(string(environ), "\x00") {
				if name, value, _ := strings.Cut(kv, "="); name == "TMUX" || name == "TMUX_PANE" {
					a.env[name] = value
				}
			}
		}
		all = append(all, a)
	}
	return all
}

// WhichRun returns in which of the processes, or their descendants, a program runs.
func WhichRun(program string, pids []int) (at map[int]bool, known bool) {
	if program == "" {
		return nil, false
	}
	all, parents := procstat.All(), map[int]int{}
	for _, p := range all {
		parents[p.PID] = p.Parent
	}
	at = map[int]bool{}
	for _, p := range all {
		if procstat.Program(p.PID) != program {
			continue
		}
		for pid, depth := p.PID, 0; pid > 1 && depth < 64; pid, depth = parents[pid], depth+1 {
			if slices.Contains(pids, pid) {
				at[pid] = true
				break
			}
		}
	}
	return at, len(all) > 0
}

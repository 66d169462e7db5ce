package agents

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/procstat"
	"tmuxmcp/server/internal/caller"
)

// programsAt finds the agents that run in panes: in the foreground of a pane's terminal, or
// above a program there that the agent has started. It first looks for agents among all
// processes of the panes' sessions, since finding the foreground takes much longer.
func (set RuleSet) programsAt(panes []Pane) map[int]Program {
	sessions := sessionsOf(panes)
	type process struct {
		pane, pid int
		isAgent   bool
	}
	var all []process
	for pane, pids := range sessions {
		for _, pid := range pids {
			all = append(all, process{pane: pane, pid: pid})
		}
	}
	procstat.ForEach(len(all), func(i int) {
		r, _ := set.Recognize(commandOf(all[i].pid))
		all[i].isAgent = r != nil
	})
	found := map[int]Program{}
	looked := map[int]bool{}
	for _, p := range all {
		if !p.isAgent || looked[p.pane] {
			continue
		}
		looked[p.pane] = true
		if f := foregroundOf(p.pane, sessions[p.pane]); f != nil {
			if program := set.programIn(*f); program.Name != "" {
				found[p.pane] = program
			}
		}
	}
	return found
}

// sessionsOf returns the processes of each pane's session, by the process started in the
// pane, with which the session began.
func sessionsOf(panes []Pane) map[int][]int {
	var sessions []int
	for _, p := range panes {
		if p.PID > 0 && !p.Dead {
			sessions = append(sessions, p.PID)
		}
	}
	return procstat.Sessions(sessions)
}

// foreground is what runs in the foreground of a pane's terminal.
type foreground struct {
	pane    procstat.Process // the process started in the pane
	members []int            // the foreground process group
}

// foregroundOf returns the foreground of a pane, given the process started there and all
// processes of its session; nil if it has none.
func foregroundOf(pane int, session []int) *foreground {
	p, err := procstat.Of(pane)
	if err != nil || p.Foreground <= 0 {
		return nil
	}
	f := &foreground{pane: p}
	for _, pid := range session {
		if p, err := procstat.Of(pid); err == nil && p.Group == f.pane.Foreground {
			f.members = append(f.members, pid)
		}
	}
	return f
}

// above returns the processes of the pane above the foreground, from below.
func (f foreground) above() (all []procstat.Process) {
	if len(f.members) == 0 || f.pane.PID == f.pane.Foreground {
		return nil
	}
	p, err := procstat.Of(f.members[0])
	for depth := 0; err == nil && p.PID != f.pane.PID && depth < mostParents; depth++ {
		if p, err = procstat.Of(p.Parent); err != nil || p.Session != f.pane.Session {
			break
		}
		if p.Group != f.pane.Foreground {
			all = append(all, p)
		}
	}
	return all
}

// programIn returns the agent that runs in the foreground of a pane, or the zero Program.
func (set RuleSet) programIn(f foreground) Program {
	running := map[int]Program{}
	for _, pid := range f.members {
		if program, ok := set.programOf(pid); ok {
			running[pid] = program
		}
	}
	if len(running) > 0 {
		parent := map[int]int{}
		for pid := range running {
			for depth := 0; depth < mostParents && pid > 1 && parent[pid] == 0; depth++ {
				p, err := procstat.Of(pid)
				if err != nil {
					break
				}
				parent[pid] = p.Parent
				pid = p.Parent
			}
		}
		return topmost(running, parent)
	}
	for _, p := range f.above() {
		if program, ok := set.programOf(p.PID); ok {
			program.PIDs = []int{p.PID}
			return program
		}
	}
	return Program{}
}

// processesOf returns the processes of a pane in which an agent is looked for: those in the
// foreground, and those above them.
func processesOf(pane Pane) (found []Process) {
	f := foregroundOf(pane.PID, sessionsOf([]Pane{pane})[pane.PID])
	if f == nil {
		return nil
	}
	pids := f.members
	for _, p := range f.above() {
		pids = append(pids, p.PID)
	}
	for _, pid := range pids {
		if exe, args := commandOf(pid); args != nil {
			found = append(found, Process{PID: pid, Words: identity(exe, args)})
		}
	}
	return found
}

// commandOf returns the executable of a process, which is empty if it cannot be read, and its
// arguments, which are nil if it has none.
func commandOf(pid int) (executable string, args []string) {
	var room [4096]byte
	line, err := procstat.Begins(pid, "cmdline", room[:])
	if err == nil && len(line) == len(room) {
		line, err = os.ReadFile(procstat.File(pid, "cmdline"))
	}
	if err != nil || len(line) == 0 {
		return "", nil
	}
	return procstat.Program(pid), strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// topmost returns the program that no other one has started, with all processes that run
// it: an agent may start another one, or itself under another name.
func topmost(programs map[int]Program, parent map[int]int) (top Program) {
	pids := slices.Sorted(maps.Keys(programs))
	for _, pid := range pids {
		under := false
		for up, depth := parent[pid], 0; up > 1 && depth < mostParents && !under; up, depth = parent[up], depth+1 {
			_, under = programs[up]
		}
		if !under {
			top = programs[pid]
			break
		}
	}
	for _, pid := range pids {
		if p := programs[pid]; p.Name == top.Name {
			top.PIDs = append(top.PIDs, pid)
			top.Version = cmp.Or(top.Version, p.Version)
		}
	}
	return top
}

func (set RuleSet) programOf(pid int) (Program, bool) {
	exe, args := commandOf(pid)
	r, _ := set.Recognize(exe, args)
	if r == nil {
		return Program{}, false
	}
	for _, file := range identity(exe, args) {
		// A relative path is relative to the process's own directory.
		if filepath.IsAbs(file) {
			if v := set.versionOf(r, caller.RealPath(file)); v != "" {
				return Program{Name: r.Name, Version: v, Rules: r}, true
			}
		}
	}
	return Program{Name: r.Name, Rules: r}, true
}

var (
	// A directory of a version is below one of its program, as in claude/versions/2.1.177,
	// Cellar/codex/0.171.0 or installs/codex/0.171.0; in Nix's store it has both names.
	versionInPath = lazy.Regexp(`/([^/]+)(?:/versions)?/v?(\d+\.\d+\.\d+)[^/]*(?:/|$)`)
	versionInNix  = lazy.Regexp(`^/nix/store/[^/-]+-([^/]+?)-(\d+\.\d+\.\d+)[^/]*(?:/|$)`)
	versionNumber = lazy.Regexp(`^\d+\.\d+\.\d+`)
)

// mostManifest bounds the size of package.json, and mostParents how far up it, or an agent,
// is looked for.
const (
	mostManifest = 1 << 18
	mostParents  = 8
)

// versionOf returns the version of an agent, or "" if its file does not show it. It counts in a
// path only beside the agent's name, as an interpreter's path has the interpreter's version;
// otherwise the npm package of the file has it.
func (set RuleSet) versionOf(r *Rules, file string) string {
	for _, in := range []*regexp.Regexp{versionInPath(), versionInNix()} {
		if m := in.FindStringSubmatch(file); m != nil && r.called(m[1]) {
			return m[2]
		}
	}
	dir := filepath.Dir(file)
	for range mostParents {
		manifest := filepath.Join(dir, "package.json")
		if st, err := os.Stat(manifest); err == nil && st.Mode().IsRegular() && st.Size() < mostManifest {
			text, _ := os.ReadFile(manifest)
			var p struct{ Name, Version string }
			if json.Unmarshal(text, &p) == nil && p.Version != "" {
				if of, _ := set.Recognize("/"+p.Name, nil); of != nil && of.Name == r.Name {
					return versionNumber().FindString(p.Version)
				}
			}
		}
		if filepath.Base(dir) == "node_modules" || dir == "/" {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// called reports whether a directory has the name of the program or of a package of it.
func (r *Rules) called(name string) bool {
	return slices.Contains(r.Names, name) || name != "versions" &&
		slices.ContainsFunc(r.Packages, func(p string) bool { return filepath.Base(p) == name })
}

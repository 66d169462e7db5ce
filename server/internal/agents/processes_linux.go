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

	"tmuxmcp/internal/procstat"
	"tmuxmcp/server/internal/caller"
)

// programsAt finds the agents that panes run from the processes started in the panes: in the
// foreground of the pane's terminal, or above a program there that the agent has started.
// It reads the process table once.
func (k Known) programsAt(panes []Pane) map[int]Program {
	paneOf := map[int]int{}
	for _, pane := range panes {
		if p, err := procstat.Of(pane.PID); err == nil && p.Foreground > 0 {
			paneOf[p.Foreground] = pane.PID
		}
	}
	found := map[int]Program{}
	above := map[int]int{} // by pane, a process above the foreground
	processes := procstat.All()
	parent := map[int]int{}
	for _, p := range processes {
		parent[p.PID] = p.Parent
	}
	running := map[int]map[int]Program{} // by pane, those that were recognized, by process
	for _, p := range processes {
		pane, ok := paneOf[p.Group]
		if !ok || p.Foreground != p.Group {
			continue
		}
		above[pane] = p.Parent
		if program, ok := k.programOf(p.PID); ok {
			if running[pane] == nil {
				running[pane] = map[int]Program{}
			}
			running[pane][p.PID] = program
		}
	}
	for pane, programs := range running {
		found[pane] = topmost(programs, parent)
	}
	for pane, pid := range above {
		for depth := 0; found[pane].Name == "" && pid > 1 && depth < mostParents; depth++ {
			if program, ok := k.programOf(pid); ok {
				program.PIDs = []int{pid}
				found[pane] = program
			}
			p, err := procstat.Of(pid)
			if err != nil || pid == pane {
				break
			}
			pid = p.Parent
		}
	}
	return found
}

// processesOf returns the processes of a pane in which an agent is looked for: those in the
// foreground, and those above them.
func processesOf(pane Pane) (found []Process) {
	first, err := procstat.Of(pane.PID)
	if err != nil {
		return nil
	}
	add := func(pid int) {
		if exe, args := commandOf(pid); args != nil && !slices.ContainsFunc(found, func(p Process) bool { return p.PID == pid }) {
			found = append(found, Process{PID: pid, Words: identity(exe, args)})
		}
	}
	parent := 0
	for _, p := range procstat.All() {
		if p.Group == first.Foreground {
			add(p.PID)
			parent = p.Parent
		}
	}
	for depth := 0; parent > 1 && depth < mostParents; depth++ {
		p, err := procstat.Of(parent)
		if err != nil || p.Session != first.Session {
			break
		}
		add(parent)
		parent = p.Parent
	}
	return found
}

// commandOf returns the executable of a process, which is empty if it cannot be read, and its
// arguments, which are nil if it has none.
func commandOf(pid int) (executable string, args []string) {
	line, err := os.ReadFile(procstat.File(pid, "cmdline"))
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

func (k Known) programOf(pid int) (Program, bool) {
	exe, args := commandOf(pid)
	r, _ := k.Recognize(exe, args)
	if r == nil {
		return Program{}, false
	}
	files := append([]string{exe}, args[:min(len(args), 4)]...)
	for _, file := range files {
		// A relative path is relative to the process's own directory.
		if filepath.IsAbs(file) {
			if v := k.versionOf(caller.RealPath(file)); v != "" {
				return Program{Name: r.Name, Version: v, Rules: r}, true
			}
		}
	}
	return Program{Name: r.Name, Rules: r}, true
}

var (
	versionInPath = regexp.MustCompile(`/versions/(\d+\.\d+\.\d+)(/|$)`)
	versionNumber = regexp.MustCompile(`^\d+\.\d+\.\d+`)
)

// mostManifest bounds the size of package.json, and mostParents how far up it, or an agent,
// is looked for.
const (
	mostManifest = 1 << 18
	mostParents  = 8
)

// versionOf returns the version of a program that was installed by npm or has its version
// in its path; otherwise "".
func (k Known) versionOf(file string) string {
	if m := versionInPath.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	dir := filepath.Dir(file)
	for range mostParents {
		manifest := filepath.Join(dir, "package.json")
		if st, err := os.Stat(manifest); err == nil && st.Mode().IsRegular() && st.Size() < mostManifest {
			text, _ := os.ReadFile(manifest)
			var p struct{ Name, Version string }
			if json.Unmarshal(text, &p) == nil && p.Version != "" {
				if r, _ := k.Recognize("/"+p.Name, nil); r != nil {
					return versionNumber.FindString(p.Version)
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

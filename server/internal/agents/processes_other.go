//go:build !linux

package agents

func (set RuleSet) programsAt(panes []Pane) map[int]Program { return set.programsByName(panes) }

func processesOf(pane Pane) []Process {
	return []Process{{PID: pane.PID, Words: []string{pane.Command}}}
}

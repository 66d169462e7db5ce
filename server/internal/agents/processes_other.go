//go:build !linux

package agents

func (k Known) programsAt(panes []Pane) map[int]Program { return k.programsByName(panes) }

func processesOf(pane Pane) []Process {
	return []Process{{PID: pane.PID, Words: []string{pane.Command}}}
}

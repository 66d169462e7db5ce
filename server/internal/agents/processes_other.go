//go:build !linux

package agents

func (k Known) programsAt(panes []Pane) map[int]Program { return k.programsByName(panes) }

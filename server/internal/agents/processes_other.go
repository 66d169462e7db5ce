//go:build !linux

package agents

func programsAt(panes []Pane) map[int]Program { return programsByName(panes) }

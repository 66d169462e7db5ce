package tmux

import (
	"bytes"
	"fmt"
)

// A mark begins the lines that separate the outputs of the commands of a list. No two lists
// have the same: tmux logs its commands, and show-messages may have put the marks of
// earlier lists on a screen that this one captures.
type mark string

func (s *Server) newMark() mark { return mark(fmt.Sprintf("%s-%d-", s.marker, s.lists.Add(1))) }

// after returns the command that prints that so many commands of the list are done.
func (m mark) after(commands int) encoded {
	return encoded{"display-message", "-p", fmt.Sprint(m, commands)}
}

// split splits a list's output at the marks into n parts or, if a command failed, fewer;
// the last part is then the output of that command.
func (m mark) split(stdout []byte, n int) [][]byte {
	outputs := make([][]byte, 0, n)
	for {
		before, line, after, found := m.cut(stdout)
		switch {
		case found && line == fmt.Sprint(m, len(outputs)+1) && len(outputs) < n-1:
			outputs = append(outputs, before)
		default:
			// What follows an unexpected mark belongs to later parts.
			return append(outputs, before)
		}
		stdout = after
	}
}

// cut cuts at the first line that begins with the mark.
func (m mark) cut(stdout []byte) (before []byte, line string, after []byte, found bool) {
	for at := 0; ; at++ {
		i := bytes.Index(stdout[at:], []byte(m))
		if i < 0 {
			return stdout, "", nil, false
		}
		if at += i; at > 0 && stdout[at-1] != '\n' {
			continue
		}
		l, after, _ := bytes.Cut(stdout[at:], []byte("\n"))
		return stdout[:at], string(l), after, true
	}
}

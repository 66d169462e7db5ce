package tmux

import (
	"bytes"
	"fmt"
	"strings"
)

// A mark begins the lines that separate what the commands of one list print.
// No two lists have the same: tmux logs its commands, and show-messages may have
// put the lines of earlier lists on a screen that this one captures.
type mark string

func (s *Server) newMark() mark { return mark(fmt.Sprintf("%s-%d-", s.marker, s.lists.Add(1))) }

// after is the command to print that so many commands of the list are done.
func (m mark) after(commands int) encoded {
	return encoded{"display-message", "-p", fmt.Sprint(m, commands)}
}

// from is the line before a part of a list, that begins after so many commands.
func (m mark) from(commands int) string { return fmt.Sprint(m, "from-", commands) }

// partSize is how many commands there are in a part of a list.
const partSize = 32

// inParts is a list, with the commands of after between its own, as configuration
// that runs it in parts. What tmux does for a list of commands grows with the
// square of its length, which takes longer than the commands themselves where
// there are some hundred. The parts after one that fails are run too, so this is
// only for commands that just look.
func (m mark) inParts(list []encoded) []byte {
	var b strings.Builder
	for i := 0; i < len(list); i += 2 * partSize {
		if i > 0 {
			b.WriteString(" ; ")
		}
		part := append([]encoded{{"display-message", "-p", m.from(i / 2)}}, list[i:min(i+2*partSize, len(list))]...)
		encoded{"if-shell", "-F", "1", configLine(part)}.writeConfig(&b)
	}
	return append([]byte(b.String()), '\n')
}

// split cuts what a list printed at the marks, into n parts or, when a command
// failed, fewer: the last is what that one printed.
func (m mark) split(stdout []byte, n int) [][]byte {
	outputs := make([][]byte, 0, n)
	for {
		before, line, after, found := m.cut(stdout)
		switch {
		case found && line == m.from(len(outputs)) && len(before) == 0:
		case found && line == fmt.Sprint(m, len(outputs)+1) && len(outputs) < n-1:
			outputs = append(outputs, before)
		default:
			// What follows a line that does not belong here is of later parts.
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

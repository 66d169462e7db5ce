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
	for len(outputs) < n-1 {
		line := fmt.Appendf(nil, "\n%s%d\n", m, len(outputs)+1)
		if after, found := bytes.CutPrefix(stdout, line[1:]); found {
			outputs, stdout = append(outputs, []byte{}), after
			continue
		}
		before, after, found := bytes.Cut(stdout, line)
		if !found {
			break
		}
		outputs, stdout = append(outputs, stdout[:len(before)+1]), after
	}
	return append(outputs, stdout)
}

package tmux

import (
	"bytes"
	"context"
	"fmt"
	"strings"
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

// begin and end return what is around each expanded format, and begin what begins each row:
// whatever else tmux prints has neither. They begin with characters to which no "#" before
// them gives a meaning.
func (m mark) begin() string { return "." + string(m) }
func (m mark) end() string   { return "/" + string(m) }

// around returns a format that expands to f between marks.
func (m mark) around(f Format) Format { return Format(m.begin()) + f + Format(m.end()) }

// inside returns what is between the marks in the output of a command, and the rest. The
// end is missing if the format has a "#{" without an end, where expansion ends.
func (m mark) inside(out string) (shown, other string) {
	before, found, _ := strings.Cut(out, m.begin())
	shown, after, whole := strings.Cut(found, m.end()+"\n")
	if !whole {
		shown = strings.TrimSuffix(shown, "\n")
	}
	return shown, before + after
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

type noticeKey struct{}

// WithNotices returns a context for calls in which tmux may print something that is not the
// output of their commands: the errors in the configuration of a server that was just
// started, and what hooks print and how they fail. None of it makes a call fail or is taken
// for output. note gets it, as lines without the last newline, before the call returns and
// in its goroutine.
//
// tmux has no other way to tell the output of a command whose text is arbitrary, such as
// capture-pane, from that of a hook which runs after it, so this is returned as its output.
func WithNotices(ctx context.Context, note func(text string)) context.Context {
	return context.WithValue(ctx, noticeKey{}, note)
}

// notice passes on what tmux printed besides.
func notice(ctx context.Context, text string) {
	text = strings.Trim(text, "\n")
	if note, ok := ctx.Value(noticeKey{}).(func(string)); ok && text != "" {
		note(text)
	}
}

package tmux

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// A delimiter begins the lines that separate the outputs of the commands of a list. No two
// lists have the same one: tmux logs its commands, and show-messages may have put the
// delimiters of earlier lists on a screen that this one captures.
type delimiter string

func (s *Server) newDelimiter() delimiter {
	return delimiter(fmt.Sprintf("%s-%d-", s.marker, s.lists.Add(1)))
}

// after returns the command that prints that this many commands of the list are done.
func (d delimiter) after(commands int) encoded {
	return encoded{"display-message", "-p", fmt.Sprint(d, commands)}
}

// begin and end return what is around each expanded format, and begin what begins each row:
// whatever else tmux prints has neither. They begin with characters to which no "#" before
// them gives a meaning.
func (d delimiter) begin() string { return "." + string(d) }
func (d delimiter) end() string   { return "/" + string(d) }

// around returns a format that expands to f between delimiters.
func (d delimiter) around(f Format) Format { return Format(d.begin()) + f + Format(d.end()) }

// inside returns what is between the delimiters in the output of a command, and the rest. The
// end is missing if the format has a "#{" without an end, where expansion ends.
func (d delimiter) inside(out string) (shown, other string) {
	before, found, _ := strings.Cut(out, d.begin())
	shown, after, whole := strings.Cut(found, d.end()+"\n")
	if !whole {
		shown = strings.TrimSuffix(shown, "\n")
	}
	return shown, before + after
}

// split splits a list's output at the delimiters into n parts or, if a command failed, fewer;
// the last part is then the output of that command.
func (d delimiter) split(stdout []byte, n int) [][]byte {
	outputs := make([][]byte, 0, n)
	for len(outputs) < n-1 {
		line := fmt.Appendf(nil, "\n%s%d\n", d, len(outputs)+1)
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

// notice passes on what tmux printed that is not output.
func notice(ctx context.Context, text string) {
	text = strings.Trim(text, "\n")
	if note, ok := ctx.Value(noticeKey{}).(func(string)); ok && text != "" {
		note(text)
	}
}

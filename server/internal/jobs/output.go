package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
)

// Output says which part of a command's output a call wants, and which line of it ends the
// wait for the command.
type Output struct {
	Ready    []string `json:"ready,omitempty" desc:"return once a line has any of these"`
	Stop     []string `json:"stop,omitempty" desc:"or these: a failure"`
	Match    string   `json:"match,omitempty" desc:"only lines with this text"`
	Regex    bool     `json:"regex,omitempty" desc:"RE2"`
	Context  int      `json:"context,omitempty" desc:"lines around matches"`
	MaxLines *int     `json:"max_lines,omitempty" min:"1" desc:"keep the last"`

	checked patterns // by Check
}

// patterns are those of an Output.
type patterns struct {
	ready, stop []*match.Matcher
	match       *match.Matcher // nil without one
}

// Check refuses an output that cannot be returned. The sink uses the patterns that it compiles.
func (in *Output) Check() (err error) {
	ctx := context.Background()
	if in.Context < 0 || in.Context > 50 {
		return reply.Argument("context", "must be 0 to 50")
	}
	if in.Ready != nil && len(in.Ready) == 0 {
		return reply.Argument("ready", "must not be empty; null waits for the end")
	}
	c := &in.checked
	if c.ready, err = match.All(ctx, "ready", in.Ready, in.Regex, false); err != nil {
		return err
	}
	if c.stop, err = match.All(ctx, "stop", in.Stop, in.Regex, false); err != nil || in.Match == "" {
		return err
	}
	c.match, err = match.New("match", in.Match, in.Regex, false)
	return err
}

// Awaits reports whether a line of the output ends the wait.
func (in Output) Awaits() bool { return len(in.Ready) > 0 || len(in.Stop) > 0 }

// sink returns what collects the output, which Check has passed.
func (in Output) sink(ctx context.Context) *sink {
	ctx = context.WithoutCancel(ctx)
	s := &sink{ctx: ctx, context: in.Context, m: in.checked.match, look: &match.Search{Most: match.MaxTime}}
	if in.Awaits() {
		s.await = &awaited{ctx: ctx, patterns: in.checked, start: time.Now()}
	}
	return s
}

// sink keeps the last lines of a command's output or, with a matcher, those that
// match and their context, as grep -n shows it. It counts all lines.
type sink struct {
	ctx     context.Context
	await   *awaited // nil unless a line ends the wait
	m       *match.Matcher
	context int
	look    *match.Search

	lines, bytes int      // of all of the output
	tail         []string // its last lines
	matched      int
	kept         []string
	size         int // of what is kept
	dropped      int // lines that were too much to keep
	before       []string
	end          []string // the last lines, for a command that fails and prints no match
	after        int      // how many lines to keep after a match
	last         int      // the number of the line kept last
	err          error
}

const (
	mostKept    = 512 << 10 // bytes of output
	endLines    = 3
	tailLines   = 8
	longestLine = 4000 // bytes of a line that matches, or is near one that does
)

// until returns Until of [shell.Options]; nil if no line ends the wait.
func (s *sink) until() func(line string) bool {
	if s.await == nil {
		return nil
	}
	return s.await.until
}

// Line takes a line of the output.
func (s *sink) Line(text string) {
	s.lines++
	s.bytes += len(text) + 1
	s.tail = append(s.tail[max(0, len(s.tail)+1-tailLines):], text)
	if s.m == nil {
		s.keep(text)
		return
	}
	matches := false
	if s.err == nil {
		matches, s.err = s.look.Match(s.ctx, s.m, text)
	}
	short := reply.Head(text, longestLine)
	if len(short) < len(text) {
		short += "…"
	}
	s.end = append(s.end[max(0, len(s.end)+1-endLines):], fmt.Sprintf("%d-%s", s.lines, short))
	switch {
	case matches:
		s.matched++
		first := s.lines - len(s.before)
		if s.context > 0 && s.last > 0 && first > s.last+1 {
			s.keep("--")
		}
		for i, l := range s.before {
			s.keep(fmt.Sprintf("%d-%s", first+i, l))
		}
		s.keep(fmt.Sprintf("%d:%s", s.lines, short))
		s.before, s.after, s.last = s.before[:0], s.context, s.lines
	case s.after > 0:
		s.after--
		s.last = s.lines
		s.keep(fmt.Sprintf("%d-%s", s.lines, short))
	case s.context > 0:
		if len(s.before) == s.context {
			s.before = append(s.before[:0], s.before[1:]...)
		}
		s.before = append(s.before, short)
	}
}

func (s *sink) keep(line string) {
	s.kept = append(s.kept, line)
	for s.size += len(line) + 1; s.size > mostKept && len(s.kept) > 1; s.dropped++ {
		s.size -= len(s.kept[0]) + 1
		s.kept = s.kept[1:]
	}
}

// shortened returns lines unchanged if their JSON has at most n bytes. Otherwise it
// truncates long lines, and reports whether there were any.
func shortened(lines []string, n int) (_ []string, short bool) {
	left := n
	for _, l := range lines {
		left -= jsonSize(l)
	}
	if left >= 0 {
		return lines, false
	}
	lines = slices.Clone(lines)
	for i, l := range lines {
		if size := jsonSize(l); size > min(longestLine, n) {
			shown := min(longShown, n/2) * len(l) / size // less if JSON escapes much of it
			lines[i], short = fmt.Sprintf("%s… (%d bytes)", reply.Head(l, shown), len(l)), true
		}
	}
	return lines, short
}

func jsonSize(line string) int {
	text, err := params.Marshal(line)
	if err != nil {
		return len(line) + 1
	}
	return len(text) + 1
}

package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/server/params"
	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

// outputSelect says which part of a command's output a call wants.
type outputSelect struct {
	Match    string `json:"match,omitempty" desc:"return only lines with this text"`
	Regex    bool   `json:"regex,omitempty" desc:"match is RE2"`
	Context  int    `json:"context,omitempty" desc:"lines around matches"`
	MaxLines *int   `json:"max_lines,omitempty" min:"1" desc:"keep the last"`
}

func (in outputSelect) check() error {
	if in.Context < 0 || in.Context > 50 {
		return reply.Argument("context", "must be 0 to 50")
	}
	return nil
}

// sink returns what collects the output.
func (in outputSelect) sink(ctx context.Context) (*outputSink, error) {
	s := &outputSink{ctx: context.WithoutCancel(ctx), context: in.Context, look: &match.Search{Most: match.MaxTime}}
	if in.Match == "" {
		return s, nil
	}
	m, err := match.New("match", in.Match, in.Regex, false)
	s.m = m
	return s, err
}

// outputSink keeps the last lines of a command's output or, with a matcher, those that
// match and their context, as grep -n shows it. It counts all lines.
type outputSink struct {
	ctx     context.Context
	m       *match.Matcher
	context int
	look    *match.Search

	lines, bytes int // of all of the output
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
	longestLine = 4000 // bytes of a line that matches, or is near one that does
)

// Line implements [runner.Sink].
func (s *outputSink) Line(text string) {
	s.lines++
	s.bytes += len(text) + 1
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

func (s *outputSink) keep(line string) {
	s.kept = append(s.kept, line)
	for s.size += len(line) + 1; s.size > mostKept && len(s.kept) > 1; s.dropped++ {
		s.size -= len(s.kept[0]) + 1
		s.kept = s.kept[1:]
	}
}

// States of a job.
const (
	jobRunning = "running"
	jobStopped = "stopped"
	jobEnded   = "ended"
	jobLost    = "lost"
)

// runResult is the outcome of a command.
type runResult struct {
	PaneID tmux.PaneID `json:"pane_id"`
	// JobID is set if get_job has more of it.
	JobID      *string `json:"job_id"`
	State      string  `json:"state" enum:"running,stopped,ended,lost"`
	ExitStatus *int    `json:"exit_status"`
	TimedOut   bool    `json:"timed_out"`
	// PaneGone is set if the pane's program ended before the command.
	PaneGone             bool     `json:"pane_gone"`
	ElapsedSeconds       float64  `json:"elapsed_seconds"`
	Output               []string `json:"output" exact:"true"`
	OutputTruncated      bool     `json:"output_truncated"`
	OutputTruncatedLines int      `json:"output_truncated_lines"`
	// OutputLines is how many lines the command printed, and MatchedLines how many match.
	OutputLines  int  `json:"output_lines"`
	MatchedLines *int `json:"matched_lines"`
	// LinesMissed is set if the output may be incomplete, or differ from the pane.
	LinesMissed      bool    `json:"lines_missed"`
	Note             *string `json:"note"`
	EffectiveTimeout float64 `json:"effective_timeout"`

	detached bool // the caller wants only the job's id
}

// answer finishes reading the output and returns the result. whole is set if the result
// contains all of the output.
func (r *execution) answer(ctx context.Context) (res *runResult, whole bool) {
	if r.cmd.Close(); !r.cmd.Recorded() {
		r.readOff(ctx)
	}
	out, in := r.out, r.in.outputSelect
	if failed := r.result.ExitStatus != nil && *r.result.ExitStatus != 0; failed && out.matched == 0 {
		out.kept = append(out.kept, out.end...)
	}
	lines, cut := reply.LastLines(out.kept, in.MaxLines)
	dropped := out.dropped + cut
	inJSON := r.Form.Results == reply.ResultsJSON
	room := r.Form.Room(ctx) - reply.LineRoom // in text, whose view omits the first lines
	if inJSON {                               // the result contains it twice
		room = r.s.cfg.MaxResult/2 - jsonRoom
	}
	room = min(reply.MaxResult*2/5, max(room, leastRoom))
	lines, short := shortened(lines, room)
	if inJSON && len(lines) > 0 {
		// [Server.Limit] could not say how much it truncates.
		cut = len(lines) - max(1, reply.Fitting(lines, room, jsonSize))
		lines, dropped = lines[cut:], dropped+cut
	}
	id := r.cmd.ID()
	res = &r.result
	res.detached = r.in.Detach
	res.PaneID, res.JobID, res.Output = r.Pane.ID, &id, append([]string{}, lines...)
	res.OutputTruncated, res.OutputTruncatedLines = short || dropped > 0, dropped
	tty := r.Pane.TTY
	if res.PaneGone {
		tty = ""
	}
	res.OutputLines, res.LinesMissed = out.lines, r.missed || r.cmd.Missed(tty)
	if out.m != nil {
		res.MatchedLines = &out.matched
	}
	if out.err != nil {
		note := "not all lines were matched: " + out.err.Error()
		res.Note = &note
	}
	switch {
	case res.ExitStatus != nil:
		res.State = jobEnded
	case res.PaneGone:
		res.State = jobLost
	case r.cmd.Stopped():
		res.State, res.TimedOut = jobStopped, false
		note := "it was stopped, as C-z does: fg, typed at the prompt, goes on with it; cancel_job ends it"
		res.Note = &note
	case res.State == "":
		res.State = jobRunning
	}
	if res.State == jobRunning && res.Note == nil && !r.in.Detach && r.asks(ctx) {
		note := "it seems to wait for input: send_keys answers it" // the output ends with a question
		res.Note = &note
	}
	if lost := res.State == jobLost && !res.PaneGone; lost || res.LinesMissed {
		if dir, full := r.cmd.NoSpace(); full {
			note := "its output could not be recorded: no space left in " + dir
			if lost {
				note = "it was killed, or its exit status could not be recorded: no space left in " + dir
			}
			res.Note = &note
		}
	}
	res.ElapsedSeconds, res.EffectiveTimeout = reply.Seconds(time.Since(r.Begun)), r.Limit.Seconds()
	return res, !res.OutputTruncated && len(lines) >= out.lines && (inJSON || out.bytes < r.Form.Room(ctx)-reply.LineRoom)
}

// asks reports whether the cursor is right after text that ends as questions or prompts do.
func (r *execution) asks(ctx context.Context) bool {
	if ctx.Err() != nil || r.LookAgain(ctx) != nil || r.Pane.Y >= len(r.Pane.Screen) {
		return false
	}
	text := []rune(strings.TrimRight(r.Pane.Screen[r.Pane.Y], " "))
	n := len(text)
	return n > 0 && strings.ContainsRune(":?>])$#", text[n-1]) && n <= r.Pane.X && r.Pane.X <= 2*n+1
}

const (
	// longShown is how much is shown of a line that would displace others.
	longShown = 2000
	// jsonRoom is about the size of a result in JSON without its output, and leastRoom the
	// minimum left for its output, even in a large batch.
	jsonRoom, leastRoom = 500, 100
)

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

// jsonSize returns the size of a line in a JSON list.
func jsonSize(line string) int {
	text, err := params.Marshal(line)
	if err != nil {
		return len(line) + 1
	}
	return len(text) + 1
}

func (r *runResult) View() reply.View {
	v := reply.View{Lines: r.Output, Above: r.OutputTruncatedLines, More: "capture_pane with start and end"}
	job := ""
	if r.JobID != nil {
		job = " " + *r.JobID
		v.More = "get_job" + job + " with match"
	}
	switch {
	case r.ExitStatus != nil && r.detached:
		v.Fact("%s exit %d: job%s", r.PaneID, *r.ExitStatus, job)
	case r.ExitStatus != nil:
		v.Fact("%s exit %d", r.PaneID, *r.ExitStatus)
	case r.PaneGone:
		v.Fact("%s ended before the command did", r.PaneID)
	case r.State == jobLost && r.Note != nil:
		v.Fact("%s lost", r.PaneID)
	case r.State == jobLost:
		v.Fact("%s lost: the command was killed, its exit status is not known", r.PaneID)
	case r.State == jobStopped:
		v.Fact("%s stopped: job%s", r.PaneID, job)
	default:
		v.Fact("%s still running: job%s", r.PaneID, job)
	}
	v.FactIf(r.ExitStatus != nil && r.PaneGone, "the pane's program has ended")
	v.Fact("%s", reply.Elapsed(r.ElapsedSeconds))
	v.FactIf(r.MatchedLines != nil, "%d of %s match", reply.Value(r.MatchedLines), reply.Count(r.OutputLines, "line"))
	v.FactIf(r.MatchedLines != nil && *r.MatchedLines == 0 && len(r.Output) > 0, "the last ones are shown")
	v.FactIf(r.LinesMissed, "output may be incomplete, or look different in the pane")
	v.FactIf(r.Note != nil, "%s", reply.ValueOr(r.Note, ""))
	if r.ExitStatus != nil && r.JobID != nil && (r.MatchedLines != nil || r.OutputTruncated) {
		v.Fact("more: %s", v.More)
		v.More = ""
	}
	return v
}

// View shows several jobs as a batch does: each below a line with its number of lines.
func (g *gotJobs) View() reply.View {
	if len(g.Others) == 0 {
		return g.runResult.View()
	}
	v := reply.View{More: "get_job with one job_id and match"}
	v.Fact("%d jobs", 1+len(g.Others))
	for _, r := range append([]runResult{g.runResult}, g.Others...) {
		o := r.View()
		o.Facts = append(o.Facts, o.Of(len(o.Lines))...)
		v.Lines = append(v.Lines, fmt.Sprintf("== %s, %s", reply.Legible(strings.Join(o.Facts, ", "), ""), reply.Count(len(o.Lines), "line")))
		v.Lines = append(v.Lines, o.Lines...)
	}
	return v
}

// sweepJobs occasionally removes the remains of jobs.
func (s *Server) sweepJobs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.swept) > time.Minute {
		s.swept = time.Now()
		go runner.Sweep()
	}
}

// jobMatch is a job with the matching lines of its recorded output.
type jobMatch struct {
	JobID   string      `json:"job_id"`
	PaneID  tmux.PaneID `json:"pane_id"`
	Command string      `json:"command"`
	Matches int         `json:"matches"`
	Lines   []string    `json:"lines" exact:"true" desc:"each after its number and a colon, or a dash if it is context"`
	// cut is set if there are more, or if part of the output was not searched.
	cut bool
}

// searchJobs searches the output of the jobs in the selection, newest job first, for up to
// match.MaxTime. rest is the number of jobs that were not searched completely by then.
func (c *call) searchJobs(ctx context.Context, in searchPanesIn, m *match.Matcher) (found []jobMatch, rest int, err error) {
	rows, err := typing.Programs(ctx, c.Tmux, tmux.ListPanes{All: true, Filter: c.on.Selection.Within()})
	if err := target.NoneIsEmpty(err); err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	selected := map[string]bool{}
	for _, r := range rows {
		selected[string(r.ID)] = true
	}
	look := &match.Search{Most: match.MaxTime}
	begun := time.Now()
	more := func() bool { return ctx.Err() == nil && time.Since(begun) < match.MaxTime }
	for _, j := range runner.Jobs(placeOf(c, rows[0])) {
		if j.Visible() || !c.on.Zero() && !selected[j.Pane] {
			continue
		}
		if !more() {
			rest++
			continue
		}
		out := &outputSink{ctx: context.WithoutCancel(ctx), m: m, context: in.Context, look: look}
		j.Scan(out, more)
		if !more() {
			rest++
		}
		if out.matched > 0 {
			most, bytes := in.MaxLines*(2*in.Context+1), mostKept
			lines, cutLines, cutBytes := reply.Limited(out.kept, &most, &bytes)
			found = append(found, jobMatch{j.ID(), tmux.PaneID(j.Pane), firstLine(j.Text()), out.matched, lines, cutLines+cutBytes+out.dropped > 0})
		}
	}
	return found, rest, ctx.Err()
}

package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// What a script asks of its target is asked by commands of ours: "do LINE COMMAND…" stands
// in their place, and notes the line that runs and what failed in it. The rest is left to
// testscript, which says itself which line failed, and why.

// running is the line of the script that runs.
type running struct {
	number  int
	text    string
	negated bool // by a !
}

// ending is how the script ended before its end, or how a claim came out wrong.
type ending struct {
	// outcome is a failure, or one of the statuses.
	outcome  report.Outcome
	where    string // the line, as compilers say it
	why      string
	evidence report.Evidence
}

// instrument puts "do LINE" before the commands of a script that are ours.
func (s *script) instrument(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "-- ") {
			break // files follow
		}
		at, command := gap.CommandAt(line)
		_, ours := s.commands()[command]
		if (ours || s.actions()[command] != nil) && !(command == "exec" && background.MatchString(line)) {
			lines[i] = fmt.Sprintf("%sdo %d %s", line[:at], i+1, line[at:])
		}
	}
	return strings.Join(lines, "")
}

var (
	background = regexp.MustCompile(`\s&([a-zA-Z_0-9]+&)?\s*$`)
	// instrumented is what a transcript has of it.
	instrumented = regexp.MustCompile(`(?m)^(> .*?)\bdo [0-9]+ `)
)

func (s *script) cmdDo(ts *testscript.TestScript, neg bool, args []string) {
	number, _ := strconv.Atoi(args[0])
	s.at(number)
	s.now.negated, s.focus = neg, ""
	name, args := args[1], args[2:]
	if s.actions()[name] != nil {
		s.act(ts, append([]string{name}, args...))
		s.show(ts)
		s.judge(ts, s.last, neg)
		return
	}
	cmd := s.commands()[name]
	if neg && !cmd.negatable || len(args) < cmd.least || len(args) > cmd.most {
		s.usage(ts)
	}
	cmd.run(ts, args)
}

// at notes which line of the script runs.
func (s *script) at(number int) {
	s.now = running{number: number, text: strings.TrimSpace(s.lines[number-1])}
}

// where is the line that runs, as compilers say it.
func (s *script) where() string {
	if s.now.number == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", filepath.Base(s.req.File), s.now.number)
}

// callIn returns the name of the call in a script's line, that of its tool, verb or command,
// and its other words.
func callIn(line string) (name, rest string) {
	at, command := gap.CommandAt(line)
	words := gap.LineWord.FindAllString(line[at:], -1)
	words = words[min(len(words), map[string]int{"try": 1, "wait-until": 2}[command]):]
	if len(words) == 0 || command == "" {
		return "", ""
	}
	i := 0
	if slices.Contains([]string{"tmux", "api", "mcp", "exec"}, words[0]) {
		words = words[1:]
		i = max(0, slices.IndexFunc(words, func(w string) bool { return w[0] != '-' && w[0] != '#' }))
	}
	for k, w := range words {
		switch {
		case w[0] == '#':
		case k == i:
			name = w
		default:
			rest += " " + w
		}
	}
	return name, strings.TrimSpace(rest)
}

// maxCall is the most that the name of a call has of its words.
const maxCall = 60

// callName is the name of the call in the line that runs, with which its reasons begin:
// "show". Where the script makes others of that name it has its words, as the script writes
// them, and its number among those that are alike: "show(%0) #2". So no two calls of a script
// have the same reason, and a known failure hides no other.
func (s *script) callName() string {
	name, rest := callIn(s.now.text)
	if name == "" {
		return s.now.text
	}
	others, same := false, 1
	clip := func(text string) string { return string([]rune(text)[:min(maxCall, len([]rune(text)))]) }
	for i, line := range s.lines {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if n, r := callIn(line); n == name && i+1 != s.now.number {
			others = others || r != rest
			if clip(r) == clip(rest) && i+1 < s.now.number {
				same++
			}
		}
	}
	if others {
		name += "(" + clip(rest) + ")"
	}
	if same > 1 {
		name += fmt.Sprintf(" #%d", same)
	}
	return name
}

// of is a reason of a call, which it names.
func (o outcome) of(why string) string {
	call := o.call
	if call == "" || strings.HasPrefix(why, "call "+call+": ") || strings.Contains(" "+why, " "+call+" declares ") {
		return why
	}
	return call + ": " + why
}

// failed records that the last command is not as the current line expects.
func (s *script) failed(outcome report.Outcome, why string) *ending {
	if outcome == report.Open && s.unfit != "" && s.req.Another {
		outcome, why = misfit, s.last.of(s.unfit+"; "+strings.TrimPrefix(why, s.shown.call+": "))
	}
	s.mark(s.printed)
	s.marked = true
	switch outcome {
	case unmapped, misfit:
		outcome, why = report.Blocked, string(outcome)+": "+why
	case report.Blocked:
		why = "set-up: " + why
	}
	return &ending{outcome, s.where(), child.Clip(why), child.Evidence(s.shown.line, s.now.text, cmp.Or(s.focus, s.shown.String()))}
}

// unmapped and misfit are why a script is blocked, where its set-up has not failed.
const (
	unmapped report.Outcome = "mapping"
	misfit   report.Outcome = "schema"
)

// fail ends the script.
func (s *script) fail(ts *testscript.TestScript, outcome report.Outcome, format string, args ...any) {
	s.end = s.failed(outcome, s.shown.of(fmt.Sprintf(format, args...)))
	ts.Fatalf("%s", s.end.why)
}

// wrongScript ends the script as wrong in itself.
func (s *script) wrongScript(why string) *ending {
	return &ending{outcome: report.Outcome(report.Errored), where: s.where(), why: why}
}

// misuse ends the script as wrong in itself.
func (s *script) misuse(ts *testscript.TestScript, format string, args ...any) {
	s.end = s.wrongScript(fmt.Sprintf(format, args...))
	ts.Fatalf("%s", s.end.why)
}

// usage ends the script as its command is not as it must be.
func (s *script) usage(ts *testscript.TestScript) {
	_, name := gap.CommandAt(s.now.text)
	s.misuse(ts, "usage: %s %s", name, s.commands()[name].usage)
}

// misused is the error of an action that the script has wrong.
type misused string

func (m misused) Error() string { return string(m) }

// stop ends the script for what is no failure.
func (s *script) stop(status report.Status, why string) {
	s.end = &ending{outcome: report.Outcome(status), why: why}
	runtime.Goexit()
}

// looking are the commands that look at what the one before them did.
var looking = append(strings.Fields("json row saw claim"), comparing...)

// kind returns how a failure of the current line counts: as open if the line asks the
// script's question, as calls of layers api and mcp do, commands that must fail, and commands
// whose output the next line checks; as blocked if it only sets something up.
func (s *script) kind(asks bool) report.Outcome {
	if s.crashed() {
		return report.Crashed
	}
	_, command := gap.CommandAt(s.now.text)
	asks = asks || slices.Contains([]string{"api", "mcp", "mcp-leave"}, command) || command == "wait-until" && s.asked
	for _, line := range s.lines[min(s.now.number, len(s.lines)):] {
		if _, next := gap.CommandAt(line); next != "" {
			asks = asks || slices.Contains(looking, next) || conditional.MatchString(line)
			break
		}
	}
	if asks {
		return report.Open
	}
	return report.Blocked
}

// conditional is a line whose conditions look at the last command.
var conditional = regexp.MustCompile(`^\['?!?(ok|failed|stdout:|stderr:)`)

var (
	crash = regexp.MustCompile(`(died|ended): signal: |server exited unexpectedly|lost server|the server ended: `)
	gone  = regexp.MustCompile(`no server running on |error connecting to `)
)

// crashed reports whether tmux or the server ended by what was asked last.
func (s *script) crashed() bool {
	text := s.last.String()
	return !s.last.ok() && (crash.MatchString(text) || s.started && gone.MatchString(text))
}

// judge fails the script when a command did not do what it must.
func (s *script) judge(ts *testscript.TestScript, o outcome, neg bool) {
	s.shown = o
	why := ""
	switch {
	case o.err != nil:
		why = s.shown.of(o.err.Error())
	case neg && o.code == 0:
		why = o.call + " succeeded"
	case !neg && o.code != 0:
		why = o.call + " failed: " + child.OneLine(o.said())
	default:
		return
	}
	outcome := s.kind(neg)
	var none gap.NotOffered
	var wrong misused
	switch {
	case errors.As(o.err, &wrong):
		s.misuse(ts, "%v", wrong)
	case s.req.Another && errors.As(o.err, &none):
		outcome, why = report.Outcome(report.NotOffered), none.Error()
	case s.req.Another && o.misfit != "":
		outcome, why = misfit, s.shown.of(o.misfit)
	}
	s.end = s.failed(outcome, why)
	expected := "success"
	if neg {
		expected = "failure"
	}
	s.end.evidence = child.Evidence(o.line, expected, o.said())
	ts.Fatalf("%s", s.end.why)
}

func (s *script) cmdExec(ts *testscript.TestScript, args []string) {
	neg := s.now.negated
	s.send(child.Message{Command: s.now.text})
	s.note(ts, "program", args)
	err := ts.Exec(args[0], args[1:]...)
	o := outcome{line: report.CommandLine(append([]string{"exec"}, args...)), call: s.callName()}
	o.stdout, o.stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	var exit interface{ ExitCode() int }
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.cancel()
		o.err = errors.New("still running")
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		o.code = exit.ExitCode()
	case err != nil && !neg:
		o.err = err
	case err != nil:
		o.code = -1
	}
	s.shown = o
	s.noteOutcome(ts)
	s.judge(ts, o, neg)
}

// comparing are testscript's commands that look at what came: when one fails it is
// the target's fault.
var comparing = strings.Fields("stdout stderr grep cmp cmpenv exists")

var (
	// failedAt is what testscript says of a failure: the line and why.
	failedAt = regexp.MustCompile(`(?s)\nFAIL: [^\n]*?:([0-9]+): (.*)$`)
	misusing = regexp.MustCompile(`^usage: |-count=|^error parsing regexp|against itself$`)
)

// compared finds in testscript's log which of its comparing commands failed, and
// how. Any other of its commands sets the script up.
func (s *script) compared(log string) *ending {
	m := failedAt.FindStringSubmatchIndex(log)
	if m == nil {
		return &ending{outcome: report.Outcome(report.Errored), why: child.Tail(log)}
	}
	number, _ := strconv.Atoi(log[m[2]:m[3]])
	why := child.OneLine(log[m[4]:m[5]])
	s.at(number)
	_, command := gap.CommandAt(s.now.text)
	if !slices.Contains(comparing, command) || misusing.MatchString(why) {
		return s.wrongScript(why)
	}
	// What cmp and grep looked at.
	segment := log[strings.LastIndex(log[:m[0]], "\n> ")+1 : m[0]]
	if _, shown, _ := strings.Cut(segment, "\n"); strings.TrimSpace(shown) != "" {
		s.focus = shown
	}
	if name := s.missing(s.now.text); command == "stdout" && name != "" && !strings.HasPrefix(why, "unexpected match") {
		return s.failed(unmapped, s.shown.of("the answer has no "+name))
	}
	return s.failed(s.kind(true), s.shown.of(why))
}

// ended is how the script ended before its end; nil if it did not.
func (s *script) ended(t *recorder) *ending {
	end, excess := s.end, s.tooMuch.Load()
	switch {
	case t.panicked != nil:
		return &ending{outcome: report.Outcome(report.Errored), why: fmt.Sprintf("panic: %v", t.panicked)}
	case end == nil && t.failed && (excess != nil || s.ctx.Err() != nil):
		end = s.failed(report.Open, "") // it ended a command that is testscript's
	case end == nil && t.failed:
		end = s.compared(strings.TrimSpace(strings.Join(t.log, "\n")))
	case end == nil && t.skipped:
		return &ending{outcome: report.Outcome(report.Skip), why: t.skipReason}
	}
	switch {
	case end == nil || !end.outcome.Failed():
	case excess != nil:
		end.why = *excess
	case s.ctx.Err() != nil:
		end.outcome, end.why = report.TimedOut, fmt.Sprintf("no end within %v", s.req.Timeout)
	case end.outcome == report.Blocked && s.wrong == nil:
		if need := lacking(s.ctx, s.req, s.req.Needs); need != "" {
			end.outcome, end.where = report.Outcome(report.NotApplicable), ""
			end.why = "it needs " + need + ", which this tmux does not have"
		}
	}
	return end
}

// cell returns the cell of a script that ended this way.
func (s *script) cell(end *ending) report.Cell {
	c := report.Cell{Status: report.Pass, Claims: s.claims, Evidence: s.evidence}
	for _, cl := range s.claims {
		if c.Verdict != report.Refuted && cl.Verdict != "" {
			c.Verdict = cl.Verdict
		}
	}
	errored := report.Outcome(report.Errored)
	switch {
	case end != nil || s.wrong != nil:
	case len(s.seen) > 0:
		end = &ending{outcome: errored, why: "the script says what it saw, and not of which claim"}
	case s.req.Layer == report.TmuxLayer && len(s.claims) == 0:
		end = &ending{outcome: errored, why: "the script ended without a claim"}
	}
	if end != nil && end.evidence != (report.Evidence{}) {
		c.Evidence = append(c.Evidence, end.evidence)
		if end.outcome.Failed() || end.outcome == report.Outcome(report.NotOffered) {
			c.Claims = append(c.Claims, report.Claim{Outcome: end.outcome, Why: end.why, Evidence: &end.evidence})
		}
	}
	if s.wrong != nil && (end == nil || end.outcome != errored) {
		end = s.wrong
		c.Evidence = append(c.Evidence, end.evidence)
	}
	if end == nil {
		return c
	}
	c.Status, c.Reason = report.Status(end.outcome), child.Clip(end.where+end.why)
	switch {
	case end.outcome.Failed():
		c.Status = report.Fail
	case c.Status == report.NotOffered:
		c.Reason = end.why
	case c.Status == report.NotApplicable && s.req.Layer == report.TmuxLayer:
		c.Verdict = report.NoVerdict
	}
	return c
}

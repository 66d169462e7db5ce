package conform

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/report"
)

// What a script asks of its target is asked by commands of ours: "do LINE COMMAND…" stands
// in their place, and notes the line that runs and what failed in it. The rest is left to
// testscript, which says itself which line failed, and why.

// leftToTestscript are its own commands: those that compare, and those that set things up.
var leftToTestscript = append(strings.Fields("cd chmod cp env kill mkdir mv rm skip stdin stop symlink ttyin ttyout unix2dos unquote wait"), comparing...)

// running is the line of the script that runs.
type running struct {
	number int
	text   string
}

// failure is how the script failed.
type failure struct {
	where    string // the line, as compilers say it
	why      string
	outcome  report.Outcome
	evidence report.Evidence
}

// instrument puts "do LINE" before the commands of a script.
func instrument(script string) string {
	lines := strings.SplitAfter(script, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "-- ") {
			break // files follow
		}
		if at, command := commandAt(line); command != "" && !slices.Contains(leftToTestscript, command) && !(command == "exec" && background.MatchString(line)) {
			lines[i] = fmt.Sprintf("%sdo %d %s", line[:at], i+1, line[at:])
		}
	}
	return strings.Join(lines, "")
}

// commandAt is a line's command, which is behind its conditions and the !, and where it
// begins; empty if there is none.
func commandAt(line string) (int, string) {
	for _, w := range lineWord.FindAllStringIndex(line, -1) {
		switch word := strings.ReplaceAll(line[w[0]:w[1]], "'", ""); {
		case strings.HasPrefix(word, "#"):
			return 0, ""
		case word == "!", strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]"):
		default:
			return w[0], word
		}
	}
	return 0, ""
}

var (
	// lineWord is a word, with its quotes, or a comment.
	lineWord   = regexp.MustCompile(`#[^\n]*|([^\s'#]|'[^']*')+`)
	background = regexp.MustCompile(`\s&([a-zA-Z_0-9]+&)?\s*$`)
	// instrumented is what a transcript has of it.
	instrumented = regexp.MustCompile(`(?m)^(> .*?)\bdo [0-9]+ `)
)

func (s *script) cmdDo(ts *testscript.TestScript, neg bool, args []string) {
	number, _ := strconv.Atoi(args[0])
	s.now = running{number, strings.TrimSpace(s.lines[number-1])}
	s.focus = ""
	cmd := s.commands()[args[1]]
	if cmd == nil {
		s.misuse(ts, "unknown command %q", args[1])
	}
	cmd(ts, neg, args[2:])
}

// where is the line that runs, as compilers say it.
func (s *script) where() string {
	if s.now.number == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", filepath.Base(s.req.File), s.now.number)
}

// failed is that what the line that runs expects of the last command is not so.
func (s *script) failed(outcome report.Outcome, why string) *failure {
	e := report.Evidence{Command: s.shown.line, Expected: s.now.text, Actual: s.shown.String()}
	if s.focus != "" {
		e.Actual = s.focus
	}
	return &failure{s.where(), why, outcome, e}
}

// unmapped and misfit are why a script is blocked, where its set-up has not failed.
const (
	unmapped report.Outcome = "mapping"
	misfit   report.Outcome = "schema"
)

// blocked says in the reason what blocks.
func blocked(outcome report.Outcome, why string) (report.Outcome, string) {
	switch outcome {
	case unmapped, misfit:
		return report.Blocked, string(outcome) + ": " + why
	case report.Blocked:
		return outcome, "set-up: " + why
	}
	return outcome, why
}

// fail ends the script.
func (s *script) fail(ts *testscript.TestScript, outcome report.Outcome, format string, args ...any) {
	s.failure = s.failed(blocked(outcome, fmt.Sprintf(format, args...)))
	ts.Fatalf("%s", s.failure.why)
}

// looking are the commands that look at what the one before them did.
var looking = append(strings.Fields("json saw claim"), comparing...)

// kind is what the failure of the line that runs is: open where the script asks by it, as
// by the commands of layers api and mcp, by one that must fail, and by one that the next
// line looks at; blocked where it only sets the script up.
func (s *script) kind(command string, neg bool) report.Outcome {
	if s.crashed() {
		return report.Crashed
	}
	_, own := commandAt(s.now.text)
	asks := neg || slices.Contains([]string{"api", "mcp", "mcp-leave"}, command) || own == "wait-until" && s.asked
	for _, line := range s.lines[min(s.now.number, len(s.lines)):] {
		if _, next := commandAt(line); next != "" {
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

// misuse ends the script as wrong in itself.
func (s *script) misuse(ts *testscript.TestScript, format string, args ...any) {
	s.fault = fmt.Sprintf(format, args...)
	ts.Fatalf("%s", s.fault)
}

// judge fails the script when a command did not do what it must.
func (s *script) judge(ts *testscript.TestScript, o outcome, neg bool) {
	s.shown = o
	why := ""
	switch {
	case o.err != nil:
		why = o.err.Error()
	case neg && o.code == 0:
		why = "unexpected command success"
	case !neg && o.code != 0:
		why = "unexpected command failure: " + oneLine(o.said())
	default:
		return
	}
	expected := "success"
	if neg {
		expected = "failure"
	}
	_, command := commandAt(s.now.text)
	outcome := s.kind(command, neg)
	var none notOffered
	switch {
	case s.req.Another && errors.As(o.err, &none):
		outcome = report.Outcome(report.NotOffered)
	case s.req.Another && o.misfit != "" && !neg:
		outcome, why = misfit, o.misfit
	}
	outcome, why = blocked(outcome, why)
	s.failure = &failure{s.where(), why, outcome, report.Evidence{Command: o.line, Expected: expected, Actual: o.said()}}
	ts.Fatalf("%s", why)
}

func (s *script) cmdExec(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		s.misuse(ts, "usage: exec PROGRAM [ARG…] [&]")
	}
	s.send(message{Command: s.now.text})
	s.note(ts, doProgram, args)
	err := ts.Exec(args[0], args[1:]...)
	o := outcome{line: report.CommandLine(append([]string{"exec"}, args...)), stdout: ts.ReadFile("stdout"), stderr: ts.ReadFile("stderr")}
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
	s.judge(ts, o, neg)
}

// comparing are testscript's commands that look at what came: when one fails it is
// the target's fault.
var comparing = strings.Fields("stdout stderr grep cmp cmpenv exists")

var (
	// failedAt is what testscript says of a failure: the line and why.
	failedAt = regexp.MustCompile(`(?s)\nFAIL: [^\n]*?:([0-9]+): (.*)$`)
	misused  = regexp.MustCompile(`^usage: |-count=|^error parsing regexp|against itself$`)
)

// compared finds in testscript's log which of its comparing commands failed, and
// how. Any other of its commands sets the script up.
func (s *script) compared(log string) {
	m := failedAt.FindStringSubmatchIndex(log)
	if m == nil {
		return
	}
	number, _ := strconv.Atoi(log[m[2]:m[3]])
	why := oneLine(log[m[4]:m[5]])
	s.now = running{number, strings.TrimSpace(s.lines[number-1])}
	_, command := commandAt(s.now.text)
	switch {
	case !slices.Contains(comparing, command), misused.MatchString(why):
		s.fault = why
		return
	}
	e := report.Evidence{Command: s.shown.line, Expected: s.now.text, Actual: s.shown.String()}
	// What cmp and grep looked at.
	segment := log[strings.LastIndex(log[:m[0]], "\n> ")+1 : m[0]]
	if _, shown, _ := strings.Cut(segment, "\n"); strings.TrimSpace(shown) != "" {
		e.Actual = shown
	}
	s.failure = &failure{s.where(), why, s.kind(command, true), e}
}

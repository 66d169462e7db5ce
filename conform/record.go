package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/report"
)

// testscript says in prose how a script failed. To know it, each command of a
// script whose failure is one of the target's is run by ours: "do LINE COMMAND…" stands
// in its place, and notes the line that runs and what failed in it.

// leftToTestscript are its commands that set things up. When one fails the script is
// at fault.
var leftToTestscript = strings.Fields("cd chmod cp env kill mkdir mv rm skip stdin stop symlink ttyin ttyout unix2dos unquote wait")

// running is the line of the script that runs.
type running struct {
	number int
	text   string
	neg    bool
}

// failure is how the script failed.
type failure struct {
	why      string
	evidence report.Evidence
	// notOffered is set where the server has no tool for what was asked of it.
	notOffered bool
}

// instrument puts "do LINE" before the commands of a script.
func instrument(script string) string {
	lines := strings.SplitAfter(script, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "-- ") {
			break // files follow
		}
		if at := commandAt(line); at >= 0 {
			lines[i] = fmt.Sprintf("%sdo %d %s", line[:at], i+1, line[at:])
		}
	}
	return strings.Join(lines, "")
}

// commandAt is where the command of a line begins that is not left to
// testscript: after its conditions and the !.
func commandAt(line string) int {
	words := lineWord.FindAllStringIndex(line, -1)
	for i, w := range words {
		word := strings.ReplaceAll(line[w[0]:w[1]], "'", "")
		switch {
		case strings.HasPrefix(word, "#"):
			return -1
		case word == "!", strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]"):
			continue
		case slices.Contains(leftToTestscript, word):
			return -1
		}
		last := words[len(words)-1]
		if word == "exec" && len(words) > i+2 && background.MatchString(line[last[0]:last[1]]) {
			return -1
		}
		return w[0]
	}
	return -1
}

var (
	// lineWord is a word, with its quotes, or a comment.
	lineWord   = regexp.MustCompile(`#[^\n]*|([^\s'#]|'[^']*')+`)
	background = regexp.MustCompile(`^&([a-zA-Z_0-9]+&)?$`)
	// instrumented is what a transcript has of it.
	instrumented = regexp.MustCompile(`(?m)^(> .*?)\bdo [0-9]+ `)
)

func (s *script) cmdDo(ts *testscript.TestScript, neg bool, args []string) {
	number, _ := strconv.Atoi(args[0])
	s.now = running{number, strings.TrimSpace(s.lines[number-1]), neg}
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

// fail ends the script: what the line that runs expects of the last command is
// not so.
func (s *script) fail(ts *testscript.TestScript, format string, args ...any) {
	e := report.Evidence{Command: s.shown.line, Expected: s.now.text, Actual: s.shown.String()}
	if s.focus != "" {
		e.Actual = s.focus
	}
	s.failure = &failure{why: fmt.Sprintf(format, args...), evidence: e}
	ts.Fatalf("%s", s.failure.why)
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
	var none notOffered
	s.failure = &failure{why: why, evidence: report.Evidence{Command: o.line, Expected: expected, Actual: o.said()}, notOffered: errors.As(o.err, &none)}
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

// matcher is a command that compares a text with a pattern.
func (s *script) matcher(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		want, text := 0, ""
		if count, ok := strings.CutPrefix(strings.Join(args[:min(1, len(args))], ""), "-count="); ok {
			var err error
			if want, err = strconv.Atoi(count); err != nil || want < 1 || neg {
				s.misuse(ts, "%s: -count wants a number, and no !", name)
			}
			args = args[1:]
		}
		switch {
		case name == "grep" && len(args) == 2:
			name = args[1]
			text = s.read(ts, name)
			s.focus = text
		case name != "grep" && len(args) == 1:
			text = ts.ReadFile(name)
		default:
			s.misuse(ts, "usage: stdout|stderr [-count=N] REGEXP, or grep [-count=N] REGEXP FILE")
		}
		re, err := regexp.Compile("(?m)" + args[0])
		if err != nil {
			s.misuse(ts, "%v", err)
		}
		found := len(re.FindAllString(text, -1))
		switch {
		case neg && found > 0:
			s.fail(ts, "unexpected match in %s", name)
		case !neg && found == 0:
			s.fail(ts, "no match in %s", name)
		case want > 0 && found != want:
			s.fail(ts, "%d matches in %s, want %d", found, name, want)
		}
	}
}

// read is the text of a file, or of an output that is called like one.
func (s *script) read(ts *testscript.TestScript, file string) string {
	switch file {
	case "stdout", "stderr", "ttyout":
		return ts.ReadFile(file)
	}
	text, err := os.ReadFile(ts.MkAbs(file))
	if err != nil {
		s.fail(ts, "%s: %v", file, errors.Unwrap(err))
	}
	return string(text)
}

func (s *script) cmdCmp(ts *testscript.TestScript, neg bool, args []string) {
	s.compare(ts, neg, args, false)
}

func (s *script) cmdCmpenv(ts *testscript.TestScript, neg bool, args []string) {
	s.compare(ts, neg, args, true)
}

func (s *script) compare(ts *testscript.TestScript, neg bool, args []string, env bool) {
	if len(args) != 2 || args[0] == args[1] {
		s.misuse(ts, "usage: cmp|cmpenv FILE1 FILE2")
	}
	a, b := s.read(ts, args[0]), s.read(ts, args[1])
	if env {
		b = os.Expand(b, ts.Getenv)
	}
	switch {
	case neg && a == b:
		s.fail(ts, "%s and %s do not differ", args[0], args[1])
	case !neg && a != b:
		s.focus = string(diff.Diff(args[0], []byte(a), args[1], []byte(b)))
		s.fail(ts, "%s and %s differ", args[0], args[1])
	}
}

func (s *script) cmdExists(ts *testscript.TestScript, neg bool, args []string) {
	readonly := len(args) > 0 && args[0] == "-readonly"
	if readonly {
		args = args[1:]
	}
	if len(args) == 0 {
		s.misuse(ts, "usage: exists [-readonly] FILE…")
	}
	for _, file := range args {
		info, err := os.Stat(ts.MkAbs(file))
		switch {
		case err == nil && neg:
			s.fail(ts, "%s exists", file)
		case err != nil && !neg:
			s.fail(ts, "%s does not exist", file)
		case err == nil && readonly && info.Mode()&0o222 != 0:
			s.fail(ts, "%s is writable", file)
		}
	}
}

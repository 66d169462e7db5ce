package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

func (s *script) cmdDo(ts *testscript.TestScript, neg bool, args []string) {
	number, _ := strconv.Atoi(args[0])
	s.now, s.focus = s.lines[number-1], ""
	if s.part.skips(s.now) {
		return
	}
	s.part.looked = s.part.looked || looks(s.now)
	upTo(func() {
		name, args := args[1], args[2:]
		if s.actions()[name] != nil {
			s.act(ts, append([]string{name}, args...))
			show(ts, s.last)
			s.checkOutcome(ts, s.last)
			return
		}
		cmd := s.commands()[name]
		if neg && !cmd.negatable || len(args) < cmd.least || len(args) > cmd.most {
			s.usage(ts)
		}
		cmd.run(ts, args)
	})
}

// of returns a reason prefixed with the name of the call, unless it already names the call.
func (o outcome) of(why string) string {
	call := o.call
	if call == "" || strings.HasPrefix(why, "call "+call+": ") || strings.Contains(" "+why, " "+call+" declares ") {
		return why
	}
	return call + ": " + why
}

// failed returns the verdict if the last command did not do what the current line expects.
func (s *script) failed(kind Kind, why string) *Verdict {
	if kind == Failed && s.unfit != nil && s.req.Another {
		if none := gap.NotOffered(""); errors.As(s.unfit, &none) {
			kind, why = NotOffered, none.Error()
		} else {
			kind, why = Schema, s.last.of(s.unfit.Error()+"; "+strings.TrimPrefix(why, s.shown.call+": "))
		}
	}
	s.steps.mark(s.steps.printed, s.now.Number)
	s.steps.marked = true
	return &Verdict{
		kind, s.now.Number, child.Clip(kinds[kind].prefix + why),
		child.Evidence(s.shown.line, s.now.Text, cmp.Or(s.focus, s.shown.String())),
	}
}

// kind returns how a failure of the current line counts.
func (s *script) kind() Kind {
	return kindOf(s.now, after(s.now, s.lines), s.last, s.started, s.part.asked)
}

// fail ends the script because the last output is not what the current line expects.
func (s *script) fail(ts *testscript.TestScript, kind Kind, format string, args ...any) {
	s.end(ts, s.failed(kind, s.shown.of(fmt.Sprintf(format, args...))))
}

// misuse ends the script as malformed.
func (s *script) misuse(ts *testscript.TestScript, format string, args ...any) {
	s.end(ts, &Verdict{Kind: Errored, Line: s.now.Number, Why: fmt.Sprintf(format, args...)})
}

// usage ends the script because of a command with wrong arguments.
func (s *script) usage(ts *testscript.TestScript) {
	s.misuse(ts, "usage: %s %s", s.now.Command, s.commands()[s.now.Command].usage)
}

// misused is the error of an action that the script misuses.
type misused string

func (m misused) Error() string { return string(m) }

// stop ends the script with a verdict that is not a failure.
func (s *script) stop(kind Kind, why string) {
	s.verdict = &Verdict{Kind: kind, Why: why}
	runtime.Goexit()
}

// checkOutcome ends the script if the outcome of a command is not the expected one.
func (s *script) checkOutcome(ts *testscript.TestScript, o outcome) {
	s.shown = o
	why, expected := "", "success"
	if s.now.Negated {
		expected = "failure"
	}
	switch {
	case o.err != nil:
		why = o.of(o.err.Error())
	case s.now.Negated && o.code == 0:
		why = o.call + " succeeded"
	case !s.now.Negated && o.code != 0:
		why = o.call + " failed: " + child.OneLine(o.said())
	default:
		return
	}
	kind := s.kind()
	if fault, of := o.fault(s.req.Another); fault == Errored {
		if o.api {
			s.steps.mark(s.steps.printed, s.now.Number)
		}
		s.misuse(ts, "%s", of)
	} else if fault != 0 {
		kind, why = fault, of
	}
	v := s.failed(kind, why)
	v.Evidence = child.Evidence(o.line, expected, o.said())
	s.end(ts, v)
}

func (s *script) cmdExec(ts *testscript.TestScript, args []string) {
	s.send(child.Message{Command: s.now.Text})
	s.steps.note(ts, s.now, "program", args)
	err := ts.Exec(args[0], args[1:]...)
	o := outcome{line: report.CommandLine(append([]string{"exec"}, args...)), call: callName(s.now, s.lines)}
	o.stdout, o.stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	var exit interface{ ExitCode() int }
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.cancel()
		o.err = errors.New("still running")
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		o.code = exit.ExitCode()
	case err != nil && !s.now.Negated:
		o.err = err
	case err != nil:
		o.code = -1
	}
	s.steps.print(ts, o)
	s.checkOutcome(ts, o)
}

// failedAt matches testscript's report of a failure: the line and the reason.
var failedAt = regexp.MustCompile(`(?s)\nFAIL: [^\n]*?:([0-9]+): (.*)$`)

// misled returns the verdict for a failed command of testscript's own: the script is at fault.
func misled(log string) *Verdict {
	m := failedAt.FindStringSubmatch(log)
	if m == nil {
		return &Verdict{Kind: Errored, Why: child.Tail(log)}
	}
	number, _ := strconv.Atoi(m[1])
	return &Verdict{Kind: Errored, Line: number, Why: child.OneLine(m[2])}
}

// ended returns why the script ended early, or nil if it reached its end.
func (s *script) ended(t *recorder) *Verdict {
	v, excess := s.verdict, s.tooMuch.Load()
	switch {
	case t.panicked != nil:
		return &Verdict{Kind: Errored, Why: fmt.Sprintf("panic: %v", t.panicked)}
	case v == nil && t.failed && (excess != nil || s.ctx.Err() != nil):
		v = s.failed(Failed, "") // during a command of testscript's own
	case v == nil && t.failed:
		v = misled(strings.TrimSpace(strings.Join(t.log, "\n")))
	case v == nil && t.skipped:
		return &Verdict{Kind: Skipped, Why: t.skipReason}
	}
	switch {
	case v == nil || !v.Kind.failed():
	case excess != nil:
		v.Why = *excess
	case s.ctx.Err() != nil:
		v.Kind, v.Why = TimedOut, fmt.Sprintf("no end within %v", s.req.Timeout)
	case v.Kind.outcome() == report.Blocked && s.firstWrong == nil:
		if need := lacking(s.ctx, s.req, s.req.Needs); need != "" {
			v.Kind, v.Line = NotApplicable, 0
			v.Why = "it needs " + need + ", which this tmux does not have"
		}
	}
	return v
}

// where returns the line of a verdict in the form of compilers, or "" if it has none.
func where(file string, v *Verdict) string {
	if v.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", filepath.Base(file), v.Line)
}

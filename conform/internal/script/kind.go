package script

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// Verdict is why a script ended early, or why a claim is wrong.
type Verdict struct {
	Kind     Kind
	Line     int // 0 if it is not about a line
	Why      string
	Evidence report.Evidence
}

// Kind is how a failure counts, or why else a script ended.
type Kind int

const (
	Failed        Kind = iota + 1 // asked rightly, answered wrongly
	Blocked                       // the set-up failed
	Mapping                       // an answer of another server lacks a field
	Schema                        // a call or an answer does not fit another server's schema
	Crashed                       // tmux or the server ended
	TimedOut                      // the script did not end in time
	NotOffered                    // the server has no tool for it
	NotReached                    // it needs something that earlier lines did not get
	NotApplicable                 // the script is not for this tmux
	Skipped                       // something that the script needs is missing
	Errored                       // the script, or this program, is at fault
)

// kinds has the outcome in reports for each kind, and the beginning of the reasons of failures.
var kinds = map[Kind]struct {
	outcome report.Outcome
	prefix  string
}{
	Failed:        {report.Open, ""},
	Blocked:       {report.Blocked, "set-up: "},
	Mapping:       {report.Blocked, "mapping: "},
	Schema:        {report.Blocked, "schema: "},
	Crashed:       {report.Crashed, ""},
	TimedOut:      {report.TimedOut, ""},
	NotOffered:    {report.Outcome(report.NotOffered), ""},
	NotReached:    {report.NotReached, ""},
	NotApplicable: {report.Outcome(report.NotApplicable), ""},
	Skipped:       {report.Outcome(report.Skip), ""},
	Errored:       {report.Outcome(report.Errored), ""},
}

func (k Kind) outcome() report.Outcome { return kinds[k].outcome }

func (k Kind) failed() bool { return k.outcome().Failed() }

var (
	// looking are the commands that examine what the one before them did.
	looking = strings.Fields("json row saw claim extra stdout stderr grep cmp cmpenv exists")
	// asking are the commands that always ask the script's question.
	asking = append(strings.Fields("api mcp mcp-leave save"), looking...)
	// conditional matches a condition about the last command.
	conditional = regexp.MustCompile(`^\['?!?(ok|failed|not-offered|stdout:|stderr:)`)
)

// kindOf returns how a failure of a line counts, where next is the next line with a command,
// and last what the target did last. It returns Failed if the line asks the script's question,
// as calls of layers api and mcp do, commands that must fail, and commands whose output the
// next line checks; it returns Blocked if the line only sets something up. started is set if
// the target has answered before, and asked if the API or the MCP server was called in the
// same part.
func kindOf(line, next gap.Line, last outcome, started, asked bool) Kind {
	checked := len(next.Conditions) > 0 && strings.HasPrefix(next.Before, next.Conditions[0]) && conditional.MatchString(next.Conditions[0])
	switch {
	case last.crashed(started):
		return Crashed
	case line.Negated, slices.Contains(asking, line.Command), line.Command == "wait-until" && asked:
		return Failed
	case checked, slices.Contains(looking, next.Command) && !endsPart(next):
		return Failed
	}
	return Blocked
}

var (
	crash = regexp.MustCompile(`(died|ended): signal: |server exited unexpectedly|lost server|the server ended: `)
	gone  = regexp.MustCompile(`no server running on |error connecting to `)
)

// crashed reports whether tmux or the server ended during the call. started means that the target
// has answered before.
func (o outcome) crashed(started bool) bool {
	text := o.String()
	return !o.ok() && (crash.MatchString(text) || started && gone.MatchString(text))
}

// adapterFaults has how failures of adapters count; for others that depends on the line.
var adapterFaults = map[adapter.Kind]Kind{
	adapter.Misfit: Schema, adapter.AtFault: Errored, adapter.Ended: Crashed, adapter.TimedOut: TimedOut, adapter.NotStarted: Errored,
}

// fault returns how a wrong outcome counts on any line, and why, or 0 if that depends on the line.
// another is set for a server that is not this program's.
func (o outcome) fault(another bool) (Kind, string) {
	var none gap.NotOffered
	var wrong misused
	var failure *adapter.Failure
	switch {
	case errors.As(o.err, &wrong):
		return Errored, wrong.Error()
	case (another || o.api) && errors.As(o.err, &none):
		return NotOffered, none.Error()
	case errors.As(o.err, &failure) && adapterFaults[failure.Kind] != 0:
		return adapterFaults[failure.Kind], o.of(failure.Why())
	case another && errors.As(o.misfit, &none):
		return NotOffered, none.Error()
	case another && o.misfit != nil:
		return Schema, o.of(o.misfit.Error())
	}
	return 0, ""
}

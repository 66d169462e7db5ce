package script

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// command is a command of scripts other than testscript's own and [caller.actions].
type command struct {
	run         func(ts *testscript.TestScript, args []string)
	least, most int  // how many arguments
	negatable   bool // may follow a !
	usage       string
}

const many = math.MaxInt

func (s *script) commands() map[string]command {
	return map[string]command{
		"try":        {s.cmdTry, 0, many, false, "COMMAND ARG…"},
		"wait-until": {s.cmdWaitUntil, 2, many, false, "REGEXP COMMAND ARG…"},
		"attach":     {s.cmdAttach, 1, many, false, "NAME [-C] ARG…, where NAME is new"},
		"type":       {s.cmdType, 2, 2, false, "NAME TEXT, where NAME is attached"},
		"json":       {s.cmdJSON, 1, 2, true, "PATH [VALUE]"},
		"row":        {s.cmdRow, 2, many, false, "KEY NAME=VALUE…"},
		"safety":     {s.cmdSafety, 1, 1, false, "TIER, before an mcp"},
		"save":       {s.cmdSave, 1, 2, false, "NAME [PATH]"},
		"saw":        {s.cmdSaw, 2, 2, false, "confirmed|refuted WHY"},
		"claim":      {s.cmdClaim, 1, 2, false, "confirmed|refuted TEXT on layer tmux, and claim TEXT on the others"},
		"extra":      {s.cmdClaim, 1, 1, false, "TEXT, on layers api and mcp"},
		"stdout":     {s.cmdExamine, 1, 2, true, "[-count=N] REGEXP"},
		"stderr":     {s.cmdExamine, 1, 2, true, "[-count=N] REGEXP"},
		"grep":       {s.cmdExamine, 2, 3, true, "[-count=N] REGEXP FILE"},
		"cmp":        {s.cmdExamine, 2, 2, true, "FILE OTHER"},
		"cmpenv":     {s.cmdExamine, 2, 2, true, "FILE OTHER, with variables in OTHER"},
		"exists":     {s.cmdExamine, 1, many, true, "[-readonly] FILE…"},
		"na":         {s.cmdNA, 1, 1, false, "REASON"},
		"exec":       {s.cmdExec, 1, many, true, "PROGRAM [ARG…] [&]"},
	}
}

// act runs an action and records its outcome.
func (s *script) act(ts *testscript.TestScript, words []string) {
	if len(words) == 0 || s.actions()[words[0]] == nil {
		s.misuse(ts, "want a command of tmux, api or mcp, not %q", strings.Join(words, " "))
	}
	line := report.CommandLine(words)
	call := callName(s.now, s.lines)
	s.last = outcome{line: line, call: call}
	s.send(child.Message{Command: line})
	if !s.waiting {
		s.noteAction(&s.steps, ts, s.now, words)
	}
	s.last = s.actions()[words[0]](s.ctx, ts.MkAbs("."), words[1:])
	s.last.line, s.last.call = line, call
	if s.last.asked != "" {
		s.last.line += " → " + s.last.asked
	}
	s.acted(ts, words[0])
}

// acted records the outcome of an action: the evidence, the steps, and whether the target was asked
// and has answered.
func (s *script) acted(ts *testscript.TestScript, name string) {
	s.shown = s.last
	if name == "mcp" {
		s.unfit = s.last.misfit
	}
	s.steps.send(ts, s.now, s.last.sent)
	s.steps.print(ts, s.last)
	s.started = s.started || s.last.ok()
	s.part.asked = s.part.asked || name == "api" || name == "mcp"
	s.part.missed = false
}

// show prints what an outcome printed, for stdout, stderr and cmp to match.
func show(ts *testscript.TestScript, o outcome) {
	io.WriteString(ts.Stdout(), o.stdout)
	io.WriteString(ts.Stderr(), o.stderr)
}

func (s *script) cmdTry(ts *testscript.TestScript, args []string) {
	s.act(ts, args)
	show(ts, s.last)
	if s.last.err != nil && !(s.last.notOffered() && mayLack(s.now, s.lines)) {
		s.checkOutcome(ts, s.last)
	}
}

// mayLack reports whether the line after a try handles a call that is not offered.
func mayLack(l gap.Line, lines []gap.Line) bool {
	return slices.ContainsFunc(after(l, lines).Conditions, func(c string) bool { return strings.Contains(c, "not-offered") })
}

// A condition comes true in the time that a process takes to print something, or never: each may
// take a quarter of the script's time. It is checked often at first, and then less.
const (
	waitShare    = 4
	minWaitPause = 2 * time.Millisecond
	maxWaitPause = 100 * time.Millisecond
)

func (s *script) cmdWaitUntil(ts *testscript.TestScript, args []string) {
	re, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		s.misuse(ts, "wait-until: %v", err)
	}
	waitTime := s.req.Timeout / waitShare
	if s.actions()[args[1]] != nil {
		// All runs are one step, which waits for the output of the last.
		st := s.noteAction(&s.steps, ts, s.now, args[1:])
		s.waiting = true
		defer func() {
			s.waiting = false
			if st.Do == "run" {
				text := s.steps.shellWord(ts, strings.TrimRight(cmp.Or(s.last.raw, s.last.stdout), "\n"), func(name string) bool { return len(ts.Getenv(name)) > 2 })
				st.Until = &text
			}
		}()
	}
	defer func() { show(ts, s.last) }()
	deadline := time.Now().Add(waitTime)
	for pause := minWaitPause; ; pause = min(pause*5/4, maxWaitPause) {
		s.act(ts, args[1:])
		switch {
		case s.last.ok() && re.MatchString(s.last.stdout):
			return
		case s.last.err != nil:
			s.checkOutcome(ts, s.last)
		case time.Now().After(deadline):
			// Servers omit a field while it is false: only at the end is it missing.
			if name := s.missing(args[0], s.req.Another); name != "" {
				s.fail(ts, Mapping, "the answer has no %s", name)
			}
			s.fail(ts, s.kind(), "after %v there is still no match for %q", waitTime, args[0])
		}
		time.Sleep(pause)
	}
}

func (s *script) cmdJSON(ts *testscript.TestScript, args []string) {
	if !gjson.Valid(s.last.stdout) {
		s.fail(ts, s.kind(), "the last output is not JSON")
	}
	got := gjson.Get(s.last.stdout, args[0])
	text, actual, want := got.String(), cmp.Or(got.Raw, "nothing"), "there"
	switch got.Type {
	case gjson.Null:
		text = got.Raw
	case gjson.JSON:
		text = got.Get("@ugly").Raw
		actual = text
	}
	if len(args) == 2 {
		want = args[1]
	}
	match := got.Exists() && (len(args) == 1 || text == want)
	if match != s.now.Negated {
		return
	}
	s.focus = args[0] + " is " + actual
	switch {
	case args[0] == "missing" && want == "[]" && got.IsArray():
		s.fail(ts, s.kind(), "no field %s", strings.Trim(strings.ReplaceAll(strings.ReplaceAll(text, ",", " "), `"`, ""), "[]"))
	case match:
		s.fail(ts, s.kind(), "%s is %s", args[0], actual)
	case args[0] == "warnings.0" && !got.Exists():
		s.fail(ts, s.kind(), "it passes silently")
	case s.unmapped(args[0], got, s.req.Another):
		s.fail(ts, Mapping, "the answer has no %s", args[0])
	default:
		s.fail(ts, s.kind(), "%s is %s, want %s", args[0], actual, want)
	}
}

var rowField = regexp.MustCompile(`(?:^| )([a-z_]+)=`)

// cmdRow compares values in a line "KEY NAME=VALUE NAME=VALUE…" of the last output.
func (s *script) cmdRow(ts *testscript.TestScript, args []string) {
	key, row := args[0], ""
	for line := range strings.Lines(s.last.stdout) {
		if values, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), key+" "); ok {
			row = values
			break
		}
	}
	seen := map[string]string{}
	fields := append(rowField.FindAllStringSubmatchIndex(row, -1), []int{len(row)})
	for i, f := range fields[:len(fields)-1] {
		seen[row[f[2]:f[3]]] = row[f[1]:fields[i+1][0]]
	}
	var wrong []string
	for _, arg := range args[1:] {
		name, want, ok := strings.Cut(arg, "=")
		if !ok {
			s.usage(ts)
		}
		if got, ok := seen[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("no %s, want %q", name, want))
		} else if got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", name, got, want))
		}
	}
	if wrong != nil {
		s.focus = key + " " + row
		s.fail(ts, s.kind(), "%s: %s", key, strings.Join(wrong, "; "))
	}
}

// unmapped reports whether what an answer of another server lacks is a field: the server may have
// it under another name, or in another tool.
func (e *evidence) unmapped(path string, got gjson.Result, another bool) bool {
	at := strings.LastIndexByte(path, '.')
	parent := gjson.Get(e.last.stdout, "@this")
	if at > 0 {
		parent = gjson.Get(e.last.stdout, strings.TrimSuffix(path[:at], ".#"))
	}
	rows := strings.HasSuffix(path[:max(at, 0)], "#") && len(parent.Array()) > 0 && len(got.Array()) == 0
	return another && strings.HasPrefix(e.shown.line, "mcp ") && (rows || parent.IsObject() && !got.Exists())
}

// fieldName matches a field in a pattern for JSON.
var fieldName = regexp.MustCompile(`"([a-z_]+)":`)

// missing returns the JSON field in a pattern if the last answer of another server does not have
// it, and otherwise "". No field is missing from an empty list.
func (e *evidence) missing(pattern string, another bool) string {
	m := fieldName.FindStringSubmatch(pattern)
	mcp := another && e.shown.ok() && strings.HasPrefix(e.shown.line, "mcp ")
	if m == nil || !mcp || strings.Contains(e.shown.stdout, m[0]) || strings.Contains(e.shown.stdout, "[]") {
		return ""
	}
	return m[1]
}

func (s *script) cmdSave(ts *testscript.TestScript, args []string) {
	value := strings.TrimRight(s.shown.stdout, "\n")
	if len(args) == 2 {
		got := gjson.Get(s.last.stdout, args[1])
		switch is := gjson.Valid(s.last.stdout) && got.Exists(); {
		case !is && s.unmapped(args[1], got, s.req.Another):
			s.fail(ts, Mapping, "the answer has no %s", args[1])
		case !is:
			s.fail(ts, s.kind(), "there is no %s to save", args[1])
		}
		value = got.String()
	}
	// A reproducer, a shell script, can save only the whole output of a command.
	if _, rest, _ := strings.Cut(s.shown.line, " "); len(args) == 2 || s.shown.line != "tmux "+rest && s.shown.line != "exec "+rest {
		s.steps.note(ts, s.now, "keep", []string{args[0], value})
	} else {
		s.steps.note(ts, s.now, "save", args[:1])
	}
	ts.Setenv(args[0], value)
	delete(s.part.lost, args[0])
	s.steps.saved = append(s.steps.saved, args[0])
}

func (s *script) cmdSaw(ts *testscript.TestScript, args []string) {
	v, ok := verdictIn(args[0])
	if !ok {
		s.usage(ts)
	}
	s.claims.seen = append(s.claims.seen, observation{v, args[1], s.steps.printed})
	s.claims.evidence = append(s.claims.evidence, child.Evidence(s.last.line, string(v)+report.ObservedBy+args[1], s.last.String()))
}

func verdictIn(word string) (report.Verdict, bool) {
	v := report.Verdict(word)
	return v, v == report.Confirmed || v == report.Refuted
}

func (s *script) cmdClaim(ts *testscript.TestScript, args []string) {
	if s.part.alone && len(args) == 1 {
		switch {
		case slices.ContainsFunc(s.claims.all, func(c report.Claim) bool { return c.Text == args[0] }):
			s.misuse(ts, "there are two claims of this text")
		case !s.part.looked && s.part.failed == nil:
			s.misuse(ts, "nothing was asked or examined for this claim")
		}
		s.claims.add(s.part, s.req.File, args[0], s.now.Command == "claim")
		s.part, s.unfit = s.part.next(), nil
		s.steps.marked = false
		return
	}
	expected, ok := verdictIn(args[0])
	if !ok || len(args) != 2 || s.part.alone {
		s.usage(ts)
	}
	c, wrong := s.claims.decide(expected, args[1])
	if wrong != "" {
		for _, o := range s.claims.seen {
			s.steps.mark(o.printed, s.now.Number)
		}
		// The script goes on with its other claims.
		v := s.failed(s.kind(), wrong)
		c.Outcome, c.Evidence = v.Kind.outcome(), &v.Evidence
		s.firstWrong = cmp.Or(s.firstWrong, v)
		ts.Logf("FAIL: %s%s", where(s.req.File, v), v.Why)
	}
	s.claims.seen = nil
	s.claims.all = append(s.claims.all, c)
}

func (s *script) cmdSafety(ts *testscript.TestScript, args []string) {
	if s.mcpServer.Load() != nil {
		s.usage(ts)
	}
	s.safety = args[0]
}

func (s *script) cmdNA(_ *testscript.TestScript, args []string) {
	s.stop(NotApplicable, args[0])
}

// client is an attached tmux client.
type client struct {
	cmd    *exec.Cmd
	input  io.Writer
	output io.Reader
}

func (s *script) cmdAttach(ts *testscript.TestScript, args []string) {
	if s.clients[args[0]] != nil {
		s.usage(ts)
	}
	name, flags := args[0], args[1:]
	words := []string{"attach-session"}
	c := &client{}
	start := c.startTerminal
	if len(flags) > 0 && flags[0] == "-C" {
		words, flags, start = []string{"-C", "attach-session"}, flags[1:], c.startControl
	}
	c.cmd = exec.CommandContext(s.ctx, s.req.Target.Path, onServer(s.socket, append(words, flags...)...)...)
	c.cmd.Env, c.cmd.Dir = s.env, ts.MkAbs(".")
	s.last = outcome{line: report.CommandLine(append([]string{"attach"}, args...)), call: callName(s.now, s.lines)}
	s.shown = s.last
	s.send(child.Message{Command: s.last.line})

	tmuxName, err := start()
	if err == nil {
		tmuxName, err = c.awaitName(s.ctx, tmuxName)
	}
	if errors.Is(err, errNoTerminal) {
		// This is the machine's fault, not the target's.
		s.stop(Skipped, err.Error())
	}
	if err != nil {
		s.last.err = err
		s.shown = s.last
		s.fail(ts, s.kind(), "%v", err)
	}
	s.clients[name] = c
	s.steps.note(ts, s.now, "attach", args)
	ts.Setenv(name, tmuxName)
	s.steps.saved = append(s.steps.saved, name)
}

// errNoTerminal means that the system has no pseudo-terminal for a client.
var errNoTerminal = errors.New("no terminal available")

// startControl starts a control client, which has no name yet.
func (c *client) startControl() (name string, err error) {
	if c.input, err = c.cmd.StdinPipe(); err == nil {
		c.output, err = c.cmd.StdoutPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	return "", err
}

func (c *client) startTerminal() (name string, err error) {
	master, slave, err := openTerminal(80, 24)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	defer slave.Close()
	c.input, c.output = master, master
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return slave.Name(), c.cmd.Start()
}

// awaitName waits until the client prints something, as it does once attached, and keeps reading so
// that the client never blocks. It asks a control client for its name, as that need not be the
// process that was started.
func (c *client) awaitName(ctx context.Context, name string) (string, error) {
	found := make(chan string, 1)
	go func() {
		defer close(found)
		r := bufio.NewReader(c.output)
		for name == "" {
			line, err := r.ReadString('\n')
			switch {
			case err != nil:
				return
			case strings.HasPrefix(line, "%session-changed "):
				io.WriteString(c.input, "display-message -p '#{client_name}'\n")
			case strings.HasPrefix(line, "client-"):
				name = strings.TrimSpace(line)
			}
		}
		if _, err := r.ReadByte(); err == nil {
			found <- name
			io.Copy(io.Discard, r)
		}
	}()
	select {
	case name, ok := <-found:
		if ok {
			return name, nil
		}
		return "", errors.New("the client ended at once")
	case <-ctx.Done():
		return "", errors.New("the client shows nothing")
	}
}

func (s *script) cmdType(ts *testscript.TestScript, args []string) {
	if s.clients[args[0]] == nil {
		s.usage(ts)
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	if err != nil {
		s.misuse(ts, "type: not a text: %s", args[1])
	}
	s.shown = outcome{line: report.CommandLine(append([]string{"type"}, args...)), call: callName(s.now, s.lines)}
	s.send(child.Message{Command: s.shown.line})
	s.steps.note(ts, s.now, "type_into", append([]string{args[0]}, strings.Fields(fmt.Sprintf("% x", text))...)) // as send-keys -H takes it
	if _, err := io.WriteString(s.clients[args[0]].input, text); err != nil {
		s.fail(ts, Blocked, "%v", err)
	}
}

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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
)

// observation is a "saw" that no claim has used yet.
type observation struct {
	verdict report.Verdict
	why     string
	printed printed
}

// command is one of a script's, besides testscript's own and those of [script.actions].
type command struct {
	run         func(ts *testscript.TestScript, args []string)
	least, most int  // how many arguments
	negatable   bool // a ! may stand before it
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
		"claim":      {s.cmdClaim, 2, 2, false, "confirmed|refuted TEXT"},
		"na":         {s.cmdNA, 1, 1, false, "REASON"},
		"exec":       {s.cmdExec, 1, many, true, "PROGRAM [ARG…] [&]"},
	}
}

// actions are the commands that ask something of the target. They have an
// outcome, which try and wait-until, the conditions and the evidence are about.
func (s *script) actions() map[string]func(ctx context.Context, dir string, args []string) outcome {
	return map[string]func(context.Context, string, []string) outcome{
		"tmux": s.tmux,
		"api":  s.api,
		"mcp":  s.mcp,

		"control":   s.control,
		"mcp-leave": s.mcpLeave,
	}
}

// act runs an action and remembers its outcome.
func (s *script) act(ts *testscript.TestScript, words []string) {
	if len(words) == 0 || s.actions()[words[0]] == nil {
		s.misuse(ts, "want a command of tmux, api or mcp, not %q", strings.Join(words, " "))
	}
	line := report.CommandLine(words)
	call := s.callName()
	s.last = outcome{line: line, call: call}
	s.send(child.Message{Command: line})
	if !s.waiting {
		s.noteAction(ts, words)
	}
	s.last = s.actions()[words[0]](s.ctx, ts.MkAbs("."), words[1:])
	s.last.line, s.last.call = line, call
	if s.last.asked != "" {
		s.last.line += " → " + s.last.asked
	}
	s.shown = s.last
	s.noteOutcome(ts)
	s.started = s.started || s.last.ok()
	s.asked = s.asked || words[0] == "api" || words[0] == "mcp"
}

// show makes the outcome the output that stdout, stderr and cmp look at.
func (s *script) show(ts *testscript.TestScript) {
	io.WriteString(ts.Stdout(), s.last.stdout)
	io.WriteString(ts.Stderr(), s.last.stderr)
}

// onServer are the arguments of a client of a private server.
func onServer(socket string, args ...string) []string {
	return append([]string{"-u", "-S", socket, "-f", "/dev/null"}, args...)
}

// tmux runs the target's client program on the script's server.
func (s *script) tmux(ctx context.Context, dir string, args []string) outcome {
	stdout, stderr, state, err := child.Run(ctx, dir, s.env, s.req.Target.Path, onServer(s.socket, args...)...)
	o := outcome{stdout: stdout, stderr: stderr, code: state.ExitCode()}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, child.ErrTooMuch):
		o.err = err
	case ctx.Err() != nil:
		o.err = fmt.Errorf("no answer within the script's %v", s.req.Timeout)
	case errors.As(err, &exit) && !exit.Exited():
		o.err = fmt.Errorf("the tmux client died: %v", exit)
	case err != nil && exit == nil:
		o.err = err
	}
	return o
}

func (s *script) cmdTry(ts *testscript.TestScript, args []string) {
	s.act(ts, args)
	s.show(ts)
	if s.last.err != nil {
		s.judge(ts, s.last, false)
	}
}

// Conditions come true in the time that a process takes to print something, or
// not at all: a quarter of the script's time is for each. They are looked at
// often at first, and then less.
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
		// Of all that it runs, one step, which waits for the output of the last.
		st := s.noteAction(ts, args[1:])
		s.waiting = true
		defer func() {
			s.waiting = false
			if st.Do == "run" {
				text := s.shellWord(ts, strings.TrimRight(cmp.Or(s.last.raw, s.last.stdout), "\n"), func(name string) bool { return len(ts.Getenv(name)) > 2 })
				st.Until = &text
			}
		}()
	}
	defer s.show(ts)
	deadline := time.Now().Add(waitTime)
	for pause := minWaitPause; ; pause = min(pause*5/4, maxWaitPause) {
		s.act(ts, args[1:])
		switch {
		case s.last.ok() && re.MatchString(s.last.stdout):
			return
		case s.last.err != nil:
			s.judge(ts, s.last, false)
		case time.Now().After(deadline):
			// Servers leave a field out while it is false: not before the end is it missing.
			if name := s.missing(args[0]); name != "" {
				s.fail(ts, unmapped, "the answer has no %s", name)
			}
			s.fail(ts, s.kind(false), "after %v there is still no match for %q", waitTime, args[0])
		}
		time.Sleep(pause)
	}
}

func (s *script) cmdJSON(ts *testscript.TestScript, args []string) {
	if !gjson.Valid(s.last.stdout) {
		s.fail(ts, s.kind(true), "the last output is not JSON")
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
	if match != s.now.negated {
		return
	}
	s.focus = args[0] + " is " + actual
	switch {
	case match:
		s.fail(ts, s.kind(true), "%s is %s", args[0], actual)
	case s.unmapped(args[0], got):
		s.fail(ts, unmapped, "the answer has no %s", args[0])
	default:
		s.fail(ts, s.kind(true), "%s is %s, want %s", args[0], actual, want)
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
		s.fail(ts, s.kind(true), "%s: %s", key, strings.Join(wrong, "; "))
	}
}

// unmapped reports whether what is missing in an answer of another server is a field: it
// may have it under another name, or in another tool.
func (s *script) unmapped(path string, got gjson.Result) bool {
	at := strings.LastIndexByte(path, '.')
	parent := gjson.Get(s.last.stdout, "@this")
	if at > 0 {
		parent = gjson.Get(s.last.stdout, strings.TrimSuffix(path[:at], ".#"))
	}
	rows := strings.HasSuffix(path[:max(at, 0)], "#") && len(parent.Array()) > 0 && len(got.Array()) == 0
	return s.req.Another && (rows || parent.IsObject() && !got.Exists())
}

// fieldName is a field in a pattern for JSON.
var fieldName = regexp.MustCompile(`"([a-z_]+)":`)

// missing is the field of JSON in a pattern, if the last answer of another server lacks it. An
// empty list lacks nothing.
func (s *script) missing(pattern string) string {
	m := fieldName.FindStringSubmatch(pattern)
	mcp := s.req.Another && s.shown.ok() && strings.HasPrefix(s.shown.line, "mcp ")
	if m == nil || !mcp || strings.Contains(s.shown.stdout, m[0]) || strings.Contains(s.shown.stdout, "[]") {
		return ""
	}
	return m[1]
}

func (s *script) cmdSave(ts *testscript.TestScript, args []string) {
	value := strings.TrimRight(s.shown.stdout, "\n")
	if len(args) == 2 {
		got := gjson.Get(s.last.stdout, args[1])
		switch is := gjson.Valid(s.last.stdout) && got.Exists(); {
		case !is && s.unmapped(args[1], got):
			s.fail(ts, unmapped, "the answer has no %s", args[1])
		case !is:
			s.fail(ts, s.kind(true), "there is no %s to save", args[1])
		}
		value = got.String()
	}
	// What is not a text that tmux printed, a shell alone cannot take out of it.
	if _, rest, _ := strings.Cut(s.shown.line, " "); len(args) == 2 || s.shown.line != "tmux "+rest && s.shown.line != "exec "+rest {
		s.note(ts, "keep", []string{args[0], value})
	} else {
		s.note(ts, "save", args[:1])
	}
	ts.Setenv(args[0], value)
	s.saved = append(s.saved, args[0])
}

// verdict is an argument.
func (s *script) verdict(ts *testscript.TestScript, word string) report.Verdict {
	v := report.Verdict(word)
	if v != report.Confirmed && v != report.Refuted {
		s.usage(ts)
	}
	return v
}

func (s *script) cmdSaw(ts *testscript.TestScript, args []string) {
	v := s.verdict(ts, args[0])
	s.seen = append(s.seen, observation{v, args[1], s.printed})
	s.evidence = append(s.evidence, child.Evidence(s.last.line, string(v)+report.ObservedBy+args[1], s.last.String()))
}

func (s *script) cmdClaim(ts *testscript.TestScript, args []string) {
	c := report.Claim{Text: args[1], Expected: s.verdict(ts, args[0])}
	var whys []string
	verdicts := map[report.Verdict]bool{}
	for _, o := range s.seen {
		c.Verdict, verdicts[o.verdict] = o.verdict, true
		whys = append(whys, o.why)
	}
	wrong := ""
	c.Why = child.Clip(strings.Join(whys, "; "))
	switch {
	case len(verdicts) == 0:
		wrong = fmt.Sprintf("neither confirmed nor refuted, want %s: %s", c.Expected, c.Text)
		c.Why = wrong
	case len(verdicts) > 1:
		wrong = "both confirmed and refuted: " + c.Text
		c.Verdict, c.Why = "", wrong
	case c.Verdict != c.Expected:
		wrong = fmt.Sprintf("%s, want %s: %s: %s", c.Verdict, c.Expected, c.Text, c.Why)
	}
	seen := s.seen
	s.seen = nil
	if wrong != "" {
		for _, o := range seen {
			s.mark(o.printed)
		}
		// The other claims of the script are looked at all the same.
		e := s.failed(s.kind(true), wrong)
		c.Outcome, c.Evidence = e.outcome, &e.evidence
		s.wrong = cmp.Or(s.wrong, e)
		ts.Logf("FAIL: %s%s", e.where, e.why)
	}
	s.claims = append(s.claims, c)
}

func (s *script) cmdSafety(ts *testscript.TestScript, args []string) {
	if s.mcpServer.Load() != nil {
		s.usage(ts)
	}
	s.safety = args[0]
}

func (s *script) cmdNA(_ *testscript.TestScript, args []string) {
	s.stop(report.NotApplicable, args[0])
}

// client is a tmux client that stays attached.
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
	s.last = outcome{line: report.CommandLine(append([]string{"attach"}, args...)), call: s.callName()}
	s.shown = s.last
	s.send(child.Message{Command: s.last.line})

	tmuxName, err := start()
	if err == nil {
		tmuxName, err = c.awaitName(s.ctx, tmuxName)
	}
	if errors.Is(err, errNoTerminal) {
		// That is this machine's fault, and not the target's.
		s.stop(report.Skip, err.Error())
	}
	if err != nil {
		s.last.err = err
		s.shown = s.last
		s.fail(ts, s.kind(false), "%v", err)
	}
	s.clients[name] = c
	s.note(ts, "attach", args)
	ts.Setenv(name, tmuxName)
	s.saved = append(s.saved, name)
}

// errNoTerminal means that the system has no pseudo-terminal to attach a client
// to.
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

// awaitName waits until the client has shown something, which it does once it is attached,
// and reads on from there so that it never has to wait. A control client, which has no name
// yet, is asked for it: it need not be the process that was started.
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
	s.shown = outcome{line: report.CommandLine(append([]string{"type"}, args...)), call: s.callName()}
	s.send(child.Message{Command: s.shown.line})
	s.note(ts, "type_into", append([]string{args[0]}, strings.Fields(fmt.Sprintf("% x", text))...)) // as send-keys -H takes it
	if _, err := io.WriteString(s.clients[args[0]].input, text); err != nil {
		s.fail(ts, report.Blocked, "%v", err)
	}
}

// controlEnd is printed by the last command that control sends.
const controlEnd = "mcp-conform-end"

// control runs a control client, which attaches with the flags given, sends it
// lines of commands, and returns all that it wrote from then on to the answer of the
// last. Lines that arrive before the client is attached can be answered differently. The
// client leaves with an empty line.
func (s *script) control(ctx context.Context, dir string, args []string) outcome {
	words := onServer(s.socket, "-C", "attach-session")
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if args[0] == "-t" && len(args) > 1 {
			n = 2
		}
		words, args = append(words, args[:n]...), args[n:]
	}
	if len(args) == 0 {
		return outcome{err: misused("usage: control [-r] [-t TARGET] LINE…")}
	}
	ctx, cancel := context.WithTimeout(ctx, s.req.Timeout/waitShare)
	defer cancel()
	c := client{cmd: exec.CommandContext(ctx, s.req.Target.Path, words...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.WaitDelay = dir, s.env, time.Second
	if _, err := c.startControl(); err != nil {
		return outcome{err: err}
	}
	var text strings.Builder
	attached, ended := false, false
	sc := bufio.NewScanner(c.output)
	for !ended && text.Len() < child.MaxOutput && sc.Scan() {
		switch line := sc.Text(); {
		case !attached && strings.HasPrefix(line, "%session-changed "):
			attached = true
			text.Reset()
			io.WriteString(c.input, strings.Join(args, "\n")+"\ndisplay-message -p "+controlEnd+"\n")
		case line == controlEnd:
			ended = true
		default:
			text.WriteString(line + "\n")
		}
	}
	io.WriteString(c.input, "\n")
	c.input.(io.Closer).Close()
	go io.Copy(io.Discard, c.output)
	waitErr := c.cmd.Wait()
	o := outcome{stdout: strings.TrimSuffix(text.String(), lastLine(text.String()))}
	switch {
	case ctx.Err() != nil:
		o.stdout, o.err = text.String(), fmt.Errorf("the control client gave no answer within %v", s.req.Timeout/waitShare)
	case !ended && text.Len() >= child.MaxOutput:
		o.err = child.ErrTooMuch
	case !ended:
		o.stdout, o.err = text.String(), fmt.Errorf("the control client ended: %v", waitErr)
	}
	return o
}

// lastLine is the last line of a text, the %begin of the command that ends it.
func lastLine(text string) string {
	return text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
}

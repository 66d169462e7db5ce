package conform

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/tmux"
)

// ChildArg is the first argument of a process that is to run one script.
const ChildArg = "__script"

// Main is what a process that was started with [ChildArg] does: it runs one
// script, as it is told on stdin, tells on stdout what came of it, and returns
// the exit code. It changes process-wide state, so that nothing else can be done
// by that process.
func Main(stdin io.Reader, stdout io.Writer) int {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	var req request
	if err == nil {
		err = json.Unmarshal(line, &req)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "this command is for the runner's own use: no script to run:", err)
		return 2
	}
	adopt()
	parent := os.Getppid()
	s := newScript(req, stdout)
	var ended sync.Mutex // taken by whoever ends the process
	go func() {
		io.Copy(io.Discard, in)
		ended.Lock()
		s.cleanUp()
		if !req.Keep {
			// A parent that is about to be gone still looks like one.
			os.RemoveAll(req.Dir)
		}
		if os.Getppid() != parent {
			// Nobody is left to remove what the run has made.
			os.RemoveAll(req.Dir)
			os.Remove(filepath.Dir(req.Dir))
		}
		os.Exit(3)
	}()
	cell, log := s.run()
	ended.Lock()
	s.cleanUp()
	s.send(message{Cell: &cell, Log: log})
	return 0
}

// script is the state of a script that runs.
type script struct {
	req     request
	version tmux.Version
	socket  string
	env     []string
	ctx     context.Context
	cancel  context.CancelFunc

	outMu sync.Mutex
	out   io.Writer

	last     outcome // of the last project command
	focus    string  // the part of its output that is not as it should be
	clients  map[string]*client
	seen     []observation
	claims   []Claim
	evidence []Evidence
	fault    string // why the script itself is wrong
	naReason string
	// skipReason is why the script could not go on, through no fault of its own
	// or the target's.
	skipReason string

	apiServer *tmux.Server
	mcpServer atomic.Pointer[mcpServer]
	safety    string // the tier of that
}

// outcome is what a project command did.
type outcome struct {
	line           string
	code           int
	stdout, stderr string
	err            error // it did not run, or not to its end
}

func (o outcome) ok() bool { return o.err == nil && o.code == 0 }

// String is what a person would have seen.
func (o outcome) String() string {
	var parts []string
	if s := strings.TrimRight(o.stdout, "\n"); s != "" {
		parts = append(parts, s)
	}
	if s := strings.TrimRight(o.stderr, "\n"); s != "" {
		parts = append(parts, s)
	}
	switch {
	case o.err != nil:
		parts = append(parts, o.err.Error())
	case o.code != 0:
		parts = append(parts, fmt.Sprintf("(exit status %d)", o.code))
	case len(parts) == 0:
		parts = append(parts, "(no output)")
	}
	return strings.Join(parts, "\n")
}

func newScript(req request, out io.Writer) *script {
	s := &script{
		req: req, out: out,
		socket:  filepath.Join(req.Dir, "s"),
		env:     scriptEnv(req.Dir),
		clients: map[string]*client{},
		safety:  "mutating",
	}
	// The parent has parsed it already.
	s.version, _ = tmux.ParseVersion(req.Version)
	s.ctx, s.cancel = context.WithTimeout(context.Background(), req.Timeout)
	return s
}

func (s *script) send(m message) {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.outMu.Lock()
	defer s.outMu.Unlock()
	s.out.Write(append(data, '\n'))
}

// cleanUp ends everything that the script has started.
func (s *script) cleanUp() {
	s.cancel()
	if m := s.mcpServer.Load(); m != nil {
		m.end()
	}
	if s.req.Keep {
		return
	}
	if !endChildren() {
		// The politest way that is left.
		ctx, cancel := context.WithTimeout(context.Background(), graceTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, s.req.Tmux, "-S", s.socket, "kill-server")
		cmd.Env = s.env
		cmd.Run()
	}
}

// run runs the script in testscript and judges what came of it.
func (s *script) run() (Cell, string) {
	testing.Init() // testscript asks testing whether tests are to be short
	t := &recorder{verbose: s.req.Verbose}
	deadline, _ := s.ctx.Deadline()
	t.Run("", func(root testscript.T) {
		testscript.RunT(root, testscript.Params{
			Files:              []string{s.req.File},
			WorkdirRoot:        filepath.Join(s.req.Dir, "w"),
			RequireUniqueNames: true,
			Deadline:           deadline,
			Setup:              s.setup,
			Condition:          s.condition,
			Cmds:               s.commands(),
		})
	})
	log := withoutEnvironment(t.text())
	cell := Cell{Status: Pass, Claims: s.claims, Evidence: s.evidence}
	for _, c := range s.claims {
		if cell.Verdict != Refuted {
			cell.Verdict = c.Verdict
		}
	}
	f := failure(log)
	if s.ctx.Err() != nil || strings.HasPrefix(f.msg, "test timed out") {
		f.msg = fmt.Sprintf("no end within %v", s.req.Timeout)
	}
	switch {
	case t.panicked != nil:
		cell.Status, cell.Reason = Errored, fmt.Sprintf("panic: %v", t.panicked)
	case s.fault != "":
		cell.Status, cell.Reason = Errored, f.where+s.fault
	case t.failed && scriptFault.MatchString(f.msg):
		cell.Status, cell.Reason = Errored, f.where+f.msg
	case t.failed:
		cell.Status, cell.Reason = Fail, f.where+f.msg
		cell.Evidence = append(cell.Evidence, s.failed(f))
	case s.naReason != "":
		cell.Status, cell.Reason = NotApplicable, s.naReason
		if s.req.Layer == TmuxLayer {
			cell.Verdict = NoVerdict
		}
	case s.skipReason != "":
		cell.Status, cell.Reason = Skip, s.skipReason
	case t.skipped:
		cell.Status, cell.Reason = Skip, t.skipReason
	case len(s.seen) > 0:
		cell.Status, cell.Reason = Errored, "the script says what it saw, and not of which claim"
	case s.req.Layer == TmuxLayer && len(s.claims) == 0:
		cell.Status, cell.Reason = Errored, "the script ended without a claim"
	}
	return cell, log
}

func (s *script) setup(env *testscript.Env) error {
	// What testscript sets goes first, so that ours counts.
	env.Vars = append(env.Vars, s.env...)
	env.Vars = append(env.Vars, "SOCKET="+s.socket, "VERSION="+s.req.Version)
	return nil
}

// condition answers the conditions of the project.
func (s *script) condition(cond string) (bool, error) {
	key, arg, _ := strings.Cut(cond, ":")
	match := func(text string) (bool, error) {
		re, err := regexp.Compile("(?m)" + arg)
		if err != nil {
			return false, err
		}
		return re.MatchString(text), nil
	}
	switch {
	case key == "tmux" && arg != "":
		v, err := tmux.ParseVersion(arg)
		return err == nil && s.version.Has(v), err
	case cond == "ok":
		return s.last.ok(), nil
	case cond == "failed":
		return !s.last.ok(), nil
	case key == "stdout" && arg != "":
		return match(s.last.stdout)
	case key == "stderr" && arg != "":
		return match(s.last.stderr)
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

var (
	// scriptFault are the failures of testscript that are the script's own.
	scriptFault = regexp.MustCompile(`^(unknown command|unknown condition|bad condition|usage: |missing command after|unterminated quoted|unsupported: |error parsing regexp)`)
	// matchFailure is how testscript words a pattern that fits or does not.
	matchFailure = regexp.MustCompile("^((?:no|unexpected) match) for `.*` found in ([^ :]+)")
	failLine     = regexp.MustCompile(`(?m)^FAIL: (?:.*/)?([^/\n]+\.txtar:[0-9]+): (.*)$`)
)

// withoutEnvironment is a transcript without the variables that a verbose one
// starts with.
func withoutEnvironment(log string) string {
	rest := log
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ">") {
			return rest
		}
		rest = rest[len(line):]
	}
	return log
}

// failed is the evidence of what ended the script: a program that it ran itself,
// or else the last command of the project and what the script made of it.
func (s *script) failed(f failed) Evidence {
	words := strings.Fields(f.line)
	for len(words) > 0 && strings.HasSuffix(words[0], "]") {
		words = words[1:] // conditions
	}
	outcome := "success"
	if len(words) > 0 && words[0] == "!" {
		outcome, words = "failure", words[1:]
	}
	e := Evidence{Command: s.last.line, Expected: f.line, Actual: s.last.String()}
	switch {
	case len(words) == 0:
	case words[0] == "exec":
		return Evidence{Command: f.line, Expected: outcome, Actual: f.output}
	case s.actions()[words[0]] != nil:
		e.Expected = outcome
	}
	if s.focus != "" {
		e.Actual = s.focus
	}
	return e
}

// failed is what a transcript tells about how a script failed.
type failed struct {
	where  string // the file and its line, with a colon and a space
	line   string // the line's text
	output string // what testscript wrote about it
	msg    string // why
}

func failure(log string) failed {
	m := failLine.FindStringSubmatchIndex(log)
	if m == nil {
		return failed{msg: tail(log)}
	}
	f := failed{where: log[m[2]:m[3]] + ": ", msg: log[m[4]:m[5]]}
	for l := range strings.Lines(log[:m[0]]) {
		if rest, ok := strings.CutPrefix(l, "> "); ok {
			f.line, f.output = strings.TrimSpace(rest), ""
		} else {
			f.output += l
		}
	}
	f.output = strings.TrimSpace(f.output)
	// The pattern is in the line, which is told beside this.
	if q := matchFailure.FindStringSubmatch(f.msg); q != nil {
		f.msg = q[1] + " in " + q[2]
	}
	return f
}

// recorder is the T that testscript runs a script with.
type recorder struct {
	verbose    bool
	log        []string
	failed     bool
	skipped    bool
	skipReason string
	panicked   any
}

func (t *recorder) text() string {
	lines := slices.DeleteFunc(strings.SplitAfter(strings.Join(t.log, "\n"), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "WORK=") || strings.TrimSpace(l) == ""
	})
	return strings.Join(lines, "")
}

func (t *recorder) Log(args ...any) { t.log = append(t.log, fmt.Sprint(args...)) }
func (t *recorder) Parallel()       {}
func (t *recorder) Verbose() bool   { return t.verbose }
func (t *recorder) FailNow()        { t.failed = true; runtime.Goexit() }

func (t *recorder) Fatal(args ...any) {
	t.Log(args...)
	t.FailNow()
}

func (t *recorder) Skip(args ...any) {
	t.skipped, t.skipReason = true, strings.TrimSpace(fmt.Sprintln(args...))
	runtime.Goexit()
}

// Run calls f in a goroutine of its own, which FailNow and Skip end.
func (t *recorder) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				t.panicked = r
			}
		}()
		f(t)
	}()
	<-done
}

package conform

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/proctree"
	"tmuxmcp/tmux"
)

// ChildArg is the first argument of a process that is to run one script.
const ChildArg = "__script"

// Main runs one script in a process that was started with [ChildArg]. It reads
// the request from stdin, writes the outcome to stdout and returns the exit code.
// It changes process-wide state, so the process must not do anything else.
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
	// Once the run has been killed nobody reads stdout. That must not end this process
	// before it has cleaned up. Ignoring the signal would do too, but tmux would inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	proctree.Adopt()
	limitFiles(maxFile)
	if err := req.wrap(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s := newScript(req, stdout)
	var ended sync.Mutex // taken by whoever ends the process
	go func() {
		rest, _ := io.ReadAll(in)
		ended.Lock()
		s.cleanUp()
		if string(rest) != farewell {
			// Nobody is left to remove what the run has made.
			os.RemoveAll(req.Dir)
			if run := filepath.Dir(req.Dir); isRunDir(run) {
				os.Remove(run)
			}
		} else if !req.Keep {
			os.RemoveAll(req.Dir)
		}
		os.Exit(3)
	}()
	go watch(s.excess)
	answer := s.answer()
	ended.Lock()
	s.cleanUp()
	answer.Done = true
	s.send(answer)
	return 0
}

// wrap makes a program of a tmux that needs arguments or an environment, so that all
// layers can start it by a path.
func (r *request) wrap() error {
	t := &r.Target
	if len(t.Args) == 0 && len(t.Env) == 0 {
		return nil
	}
	words := slices.Concat([]string{"env"}, t.Env, []string{t.Path}, t.Args)
	t.Path = filepath.Join(r.Dir, "tmux")
	return os.WriteFile(t.Path, []byte("#!/bin/sh\nexec "+report.CommandLine(words)+" \"$@\"\n"), 0o700)
}

// answer is what the request asks for.
func (s *script) answer() message {
	if s.req.Ask == "" {
		cell, log := s.run()
		return message{Cell: &cell, Log: log, Steps: s.steps}
	}
	m, err := map[string]func(context.Context) (message, error){
		askForVersion: s.req.version, askForTokens: s.req.tokens, askForProbe: s.req.probe, askForServer: s.offer,
	}[s.req.Ask](s.ctx)
	if err != nil {
		m.Err = err.Error()
	}
	return m
}

// script is the state of a script that runs.
type script struct {
	req    request
	socket string
	env    []string
	ctx    context.Context
	cancel context.CancelFunc

	outMu sync.Mutex
	out   io.Writer

	lines    []string // of the script
	now      running
	last     outcome // of the last project command
	shown    outcome // of the last command that printed: that one, or an exec
	focus    string  // the part of its output that is not as it should be
	end      *ending // before the script's end
	wrong    *ending // as the first claim came out, which does not end the script
	started  bool    // something has answered
	asked    bool    // the API or the MCP server was asked
	unfit    string  // how the last call of the server did not fit its schema
	clients  map[string]*client
	steps    []step
	saved    []string // the names of variables
	waiting  bool     // for an output
	printed  printed  // what the last command printed
	marked   bool     // the steps that show the failure are
	seen     []observation
	claims   []report.Claim
	evidence []report.Evidence

	// tooMuch is why the script was ended: it, or what it started, took too much
	// of the machine.
	tooMuch atomic.Pointer[string]

	apiServer *tmux.Server
	mcpServer atomic.Pointer[mcpServer]
	safety    string // the tier of that
}

// outcome is what a project command did.
type outcome struct {
	line           string
	call           string // its name in reasons; see [script.callName]
	code           int
	stdout, stderr string
	err            error  // it did not run, or not to its end
	misfit         string // how the call or the answer does not fit the server's schema
	raw            string // the message that an MCP server answered with
	asked          string // the call in the server's words, where they are others
}

func (o outcome) ok() bool { return o.err == nil && o.code == 0 }

// String is what a user at a terminal would have seen.
func (o outcome) String() string {
	parts := []string{strings.TrimRight(o.stdout, "\n"), strings.TrimRight(o.stderr, "\n")}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
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

// said is a failed command's output, its message first: what it printed besides, such
// as the whole error as JSON, would hide that.
func (o outcome) said() string {
	if strings.TrimSpace(o.stderr) == "" || strings.TrimSpace(o.stdout) == "" {
		return o.String()
	}
	message := outcome{stderr: o.stderr, code: o.code, err: o.err}
	return message.String() + "\n" + strings.TrimRight(o.stdout, "\n")
}

// defaultTier is the tier of servers unless a script says otherwise.
const defaultTier = "mutating"

func newScript(req request, out io.Writer) *script {
	s := &script{
		req: req, out: out,
		socket:  filepath.Join(req.Dir, "s"),
		env:     scriptEnv(req.Dir),
		clients: map[string]*client{},
		safety:  defaultTier,
	}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), req.Timeout)
	return s
}

func (s *script) send(m message) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	json.NewEncoder(s.out).Encode(m) // if nobody listens, the input is at its end too
}

// excess ends the script for what it takes of the machine.
func (s *script) excess(why string) {
	s.tooMuch.Store(&why)
	s.cancel()
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
	if !proctree.EndChildren() {
		// The politest way that is left.
		ctx, cancel := context.WithTimeout(context.Background(), graceTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, s.req.Target.Path, "-S", s.socket, "kill-server")
		cmd.Env = s.env
		cmd.Run()
	}
}

// run runs the script in testscript, and returns what came of it and its transcript.
func (s *script) run() (report.Cell, string) {
	testing.Init() // testscript asks testing whether tests are to be short
	text, err := os.ReadFile(s.req.File)
	file := filepath.Join(s.req.Dir, "tmp", filepath.Base(s.req.File))
	if err == nil {
		s.lines = strings.Split(string(text), "\n")
		err = os.WriteFile(file, []byte(s.instrument(string(text))), 0o600)
	}
	if err != nil {
		return report.Cell{Status: report.Errored, Reason: err.Error()}, ""
	}
	t := &recorder{verbose: s.req.Verbose}
	deadline, _ := s.ctx.Deadline()
	t.Run("", func(root testscript.T) {
		testscript.RunT(root, testscript.Params{
			Files:              []string{file},
			WorkdirRoot:        filepath.Join(s.req.Dir, "w"),
			RequireUniqueNames: true,
			Deadline:           deadline,
			Setup:              s.setup,
			Condition:          s.condition,
			Cmds:               map[string]func(*testscript.TestScript, bool, []string){"do": s.cmdDo},
		})
	})
	return s.cell(s.ended(t)), report.Clip(t.text(), maxLog)
}

func (s *script) setup(env *testscript.Env) error {
	// What testscript sets goes first, so that ours counts.
	env.Vars = append(env.Vars, s.env...)
	env.Vars = append(env.Vars, "SOCKET="+s.socket, "VERSION="+s.req.Target.Version)
	return nil
}

// condition answers the conditions of the project.
func (s *script) condition(cond string) (bool, error) {
	text := ""
	switch key, arg, _ := strings.Cut(cond, ":"); {
	case cond == "ok", cond == "failed":
		return s.last.ok() == (cond == "ok"), nil
	case key == "tmux" && arg != "":
		return versionHas(s.req.Target.Version, arg)
	case key == "stdout" && arg != "":
		text = s.last.stdout
	case key == "stderr" && arg != "":
		text = s.last.stderr
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	re, err := regexp.Compile("(?m)" + cond[len("stdout:"):])
	return err == nil && re.MatchString(text), err
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

// text is the transcript as of the script as it was written, without the variables that
// a verbose one starts with.
func (t *recorder) text() string {
	log := strings.Join(t.log, "\n")
	if at := begun.FindStringIndex(log); at != nil {
		log = log[at[0]:]
	}
	lines := slices.DeleteFunc(strings.SplitAfter(log, "\n"), func(l string) bool {
		return strings.HasPrefix(l, "WORK=") || strings.TrimSpace(l) == ""
	})
	return instrumented.ReplaceAllString(strings.Join(lines, ""), "$1")
}

// begun is where the first line of a script is in a transcript.
var begun = regexp.MustCompile(`(?m)^[#>]`)

func (t *recorder) Log(args ...any) {
	t.log = append(t.log, report.Clip(fmt.Sprint(args...), 2*maxOutput))
}
func (t *recorder) Parallel()     {}
func (t *recorder) Verbose() bool { return t.verbose }
func (t *recorder) FailNow()      { t.failed = true; runtime.Goexit() }

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

package conform

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// job is one script on one target: the side of the process that runs all of
// them. The script itself runs in a child; see child.go.
type job struct {
	gap       *Gap
	target    report.Target
	layer     report.Layer
	transport tmux.Transport // for the report; empty where nobody knows
	index     int            // among the jobs of the run
	dir       string
}

func (j *job) cell() report.Cell {
	return report.Cell{Suite: j.gap.Suite, Gap: j.gap.Number, Layer: j.layer, Tmux: j.target.Name, Transport: string(j.transport)}
}

// request is what the child reads from its standard input, which stays open for as
// long as the answer is wanted. Then comes [farewell], unless the run was killed.
type request struct {
	// Ask is what is wanted: the outcome of a script when empty.
	Ask       string         `json:"ask"`
	Dir       string         `json:"dir"`
	File      string         `json:"file"`
	Layer     report.Layer   `json:"layer"`
	Transport tmux.Transport `json:"transport"`
	Server    []string       `json:"server"`
	ServerDir string         `json:"server_dir"`
	Target    report.Target  `json:"target"`
	Timeout   time.Duration  `json:"timeout"`
	Verbose   bool           `json:"verbose"`
	Keep      bool           `json:"keep"`
	Names     []string       `json:"names"` // of tokens
	// Another is set for a server that is not this program's.
	Another bool     `json:"another"`
	Dialect *Dialect `json:"dialect"`
	Needs   []string `json:"needs"` // of a script
}

// farewell is the last that a child reads.
const farewell = "stop\n"

// What else is asked of a target is asked in a process of its own too.
const (
	askForVersion = "version"
	askForTokens  = "tokens"
	askForServer  = "server"
	askForProbe   = "probe"
)

// message is a line of what the child says: the command that it is about to
// run, and in the end the answer.
type message struct {
	Command string `json:"command,omitempty"`

	Done bool `json:"done,omitempty"`
	// The outcome of a script.
	Cell *report.Cell `json:"cell,omitempty"`
	Log  string       `json:"log,omitempty"`
	// Steps are what the script did.
	Steps []step `json:"steps,omitempty"`
	// What else was asked for, or why it is not known. Strange is set if Version is none.
	Version string          `json:"version,omitempty"`
	Strange bool            `json:"strange,omitempty"`
	Known   map[string]bool `json:"known,omitempty"`
	All     bool            `json:"all,omitempty"` // Known has all tokens in the program
	Offer   offer           `json:"offer,omitempty"`
	Err     string          `json:"err,omitempty"`
	// ServerName is what the server of Offer calls itself.
	ServerName string `json:"server_name,omitempty"`
}

// The child ends its script at the timeout itself, with the evidence; these are
// for one that does not.
const (
	overtime  = 3 * time.Second
	graceTime = 2 * time.Second
)

// run runs the script, and leaves nothing of it.
func (j *job) run(ctx context.Context, opts Options) report.Cell {
	start := time.Now()
	cell, err := j.runChild(ctx, opts)
	if err != nil {
		cell = j.cell()
		cell.Status, cell.Reason = report.Errored, err.Error()
	}
	if opts.Keep {
		cell.Dir = j.dir
	} else if err := os.RemoveAll(j.dir); err != nil && !cell.Status.Bad() {
		cell.Status, cell.Reason = report.Errored, "clean up: "+err.Error()
	}
	if ctx.Err() != nil && cell.Status != report.Pass {
		cell = j.cell()
		cell.Status, cell.Reason = report.Skip, stopReason(ctx)
	}
	if opts.Strict && cell.Status == report.NotOffered {
		cell.Refuse()
	}
	cell.DurationMS = time.Since(start).Milliseconds()
	cell.Settle(j.gap.claims(j.layer, j.target.Version))
	return cell
}

func (j *job) runChild(ctx context.Context, opts Options) (report.Cell, error) {
	if c := opts.unoffered(j); c != nil {
		return *c, nil
	}
	cell := j.cell()
	if err := makeDirs(j.dir); err != nil {
		return cell, err
	}
	file := filepath.Join(j.dir, j.gap.Name+".txtar")
	if err := os.WriteFile(file, j.gap.script(j.layer), 0o600); err != nil {
		return cell, err
	}
	last, err := converse(ctx, opts.child, request{
		Dir: j.dir, File: file, Layer: j.layer, Target: j.target, Transport: opts.Transport, Needs: j.gap.needs(),
		Server: opts.server, ServerDir: opts.serverDir, Another: opts.Server != "", Dialect: opts.Dialect,
		Timeout: opts.Timeout, Verbose: opts.Verbose, Keep: opts.Keep,
	})
	if errors.Is(err, errOvertime) {
		cell.Status, cell.Reason = report.Fail, fmt.Sprintf("no end within %v", opts.Timeout)
		cell.Evidence = []report.Evidence{evidence(last.Command, fmt.Sprintf("an end within %v", opts.Timeout), "still running")}
		cell.Claims = []report.Claim{{Outcome: report.TimedOut, Why: cell.Reason, Evidence: &cell.Evidence[0]}}
		return cell, nil
	}
	if err != nil {
		return cell, err
	}
	done := *last.Cell
	done.Suite, done.Gap, done.Layer, done.Tmux = cell.Suite, cell.Gap, cell.Layer, cell.Tmux
	done.Transport, done.Log = cell.Transport, last.Log
	if done.Status.Bad() || opts.Reproduce {
		done.Reproducer = j.reproducer(&done, last.Steps, opts)
	}
	return done, nil
}

// makeDirs makes the directories that scriptEnv names.
func makeDirs(dir string) error {
	for _, sub := range []string{"", "home", "tmp", "w"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}

// ask has a child ask something of a target, and leaves nothing of either.
func ask(ctx context.Context, req request) (message, error) {
	exe, err := os.Executable()
	if err != nil {
		return message{}, fmt.Errorf("find this program, to ask tmux with: %w", err)
	}
	if req.Dir, err = runDir(""); err != nil {
		return message{}, err
	}
	defer os.RemoveAll(req.Dir)
	if err := makeDirs(req.Dir); err != nil {
		return message{}, err
	}
	answer, err := converse(ctx, []string{exe, ChildArg}, req)
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case errors.Is(err, errOvertime):
		return answer, fmt.Errorf("no answer within %v", req.Timeout)
	case err == nil && answer.Err != "":
		return answer, errors.New(answer.Err)
	}
	return answer, err
}

// errOvertime: a child did not end in the time that its request gives it.
var errOvertime = errors.New("no end in time")

// lazyGC makes a child, which lives for a moment, collect no garbage as long as that is less
// than half of what [watch] allows.
var lazyGC = []string{"GOGC=800", fmt.Sprintf("GOMEMLIMIT=%d", maxMemory/2)}

// converse starts a child for a request, and returns the last that it said when
// all of what it started, and itself, has ended.
func converse(ctx context.Context, child []string, req request) (message, error) {
	cmd := exec.Command(child[0], child[1:]...)
	cmd.Dir, cmd.Env = req.Dir, append(scriptEnv(req.Dir), lazyGC...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = graceTime
	said := &output{left: 8192}
	cmd.Stderr = stream{said, &said.stderr}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return message{}, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return message{}, err
	}
	if err := cmd.Start(); err != nil {
		return message{}, fmt.Errorf("start the script's process: %w", err)
	}
	var last message
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		last = listen(stdout)
	}()
	json.NewEncoder(stdin).Encode(req) // if it does not read, it does not answer

	timer := time.NewTimer(req.Timeout + overtime)
	defer timer.Stop()
	timedOut := false
	select {
	case <-heard:
	case <-ctx.Done():
	case <-timer.C:
		timedOut = true
	}
	// With its input at an end the child ends what it has started, and itself.
	io.WriteString(stdin, farewell)
	stdin.Close()
	select {
	case <-heard:
	case <-time.After(graceTime):
		endTree(cmd.Process.Pid)
		// Whoever else has the child's output open is not waited for.
		stdout.Close()
		<-heard
	}
	if !last.Done {
		endTree(cmd.Process.Pid)
	}
	waitErr := cmd.Wait()
	switch {
	case last.Done:
		return last, nil
	case timedOut:
		return last, errOvertime
	case ctx.Err() != nil:
		return last, ctx.Err()
	}
	return last, fmt.Errorf("the script's process ended without an outcome: %v: %s", waitErr, tail(said.stderr.String()))
}

// listen reads the child's messages. The result has the last command and, if the
// child sent one, the outcome.
func listen(r io.Reader) message {
	var last message
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var m message
		if json.Unmarshal(sc.Bytes(), &m) != nil {
			continue
		}
		if m.Command != "" {
			last.Command = m.Command
		}
		if m.Done {
			m.Command, last = last.Command, m
		}
	}
	io.Copy(io.Discard, r)
	return last
}

// tail is the end of a text, on one line.
func tail(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = "… " + s[len(s)-300:]
	}
	return s
}

// scriptEnv is the environment of a script's processes: nothing of the
// caller's but PATH and what Go programs under test need.
func scriptEnv(dir string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"TMUX_TMPDIR=" + dir,
		"SHELL=/bin/sh", "ENV=", "PS1=$ ",
		"TERM=screen", "LANG=C.UTF-8",
	}
	for _, name := range []string{"GOCOVERDIR", "GORACE"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

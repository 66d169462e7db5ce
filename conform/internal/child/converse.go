// Package child runs scripts in child processes. It has what passes between the two: the request,
// the messages, the environment, and the bounds of the child and of what that starts. Both sides
// import it; package script is the child's side.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// Arg is the first argument of a process that runs scripts.
const Arg = "__script"

// ProtocolVersion is the revision for initializing MCP servers: the newest that has initialize,
// which every server knows.
const ProtocolVersion = mcp.ProtocolVersion20251125

// Request is what the child reads from its standard input, which stays open until the answer has
// come. Another request or [StopLine] follows, unless the run was killed.
type Request struct {
	// Ask is what to find out: "" is the outcome of a script.
	Ask       string         `json:"ask"`
	Dir       string         `json:"dir"`
	File      string         `json:"file"`
	Layer     report.Layer   `json:"layer"`
	Transport tmux.Transport `json:"transport"`
	Server    []string       `json:"server"`
	ServerDir string         `json:"server_dir"`
	// API is the command of the adapter on layer api.
	API     []string      `json:"api"`
	APIDir  string        `json:"api_dir"`
	Target  report.Target `json:"target"`
	Timeout time.Duration `json:"timeout"`
	Verbose bool          `json:"verbose"`
	Keep    bool          `json:"keep"`
	Names   []string      `json:"names"` // of tokens, or of verbs
	// Another is set for an MCP server that is not this program's own.
	Another bool         `json:"another"`
	Dialect *gap.Dialect `json:"dialect"`
	Needs   []string     `json:"needs"` // of a script
}

// StopLine is the last line that the parent writes.
const StopLine = "stop\n"

// Values of [Request.Ask] other than "": a child process finds these out too.
const (
	AskVersion = "version" // of the target, as it prints it
	AskTokens  = "tokens"  // which of Names it has, and which other names
	AskServer  = "server"  // which tools the MCP server offers
	AskAPI     = "api"     // what the adapter is, and whether it offers any verb of Names
	AskCheck   = "check"   // what the adapter is, and what it answers to each verb
	AskProbe   = "probe"   // the version of the target, by what it can do
)

// Message is a line that the child writes: the command that it is about to run, and at the end the
// answer.
type Message struct {
	Command string `json:"command,omitempty"`

	Done bool `json:"done,omitempty"`
	// The outcome of a script.
	Cell *report.Cell `json:"cell,omitempty"`
	Log  string       `json:"log,omitempty"`
	// Steps are what the script did.
	Steps []Step `json:"steps,omitempty"`
	// The answers to other requests, or Err. Strange is set if Version is not a version.
	Version string          `json:"version,omitempty"`
	Strange bool            `json:"strange,omitempty"`
	Known   map[string]bool `json:"known,omitempty"`
	All     bool            `json:"all,omitempty"` // Known has all tokens in the program
	Offer   gap.Offer       `json:"offer,omitempty"`
	Err     string          `json:"err,omitempty"`
	// ServerName is what the server of Offer calls itself.
	ServerName string `json:"server_name,omitempty"`
	// Described is how the adapter describes itself. OffersNone is set if it offers none of the
	// verbs in Names.
	Described  *report.Described `json:"described,omitempty"`
	OffersNone bool              `json:"offers_none,omitempty"`
	Findings   []Finding         `json:"findings,omitempty"`
}

// Finding is what a check of an adapter found about one verb.
type Finding struct {
	Verb string `json:"verb"`
	Text string `json:"text"` // what the verb answers, or why it is not offered
	// Offered is set if a call of the verb was answered, even with the wrapper's own error.
	Offered bool `json:"offered,omitempty"`
	// Fault is set if an answer breaks the protocol, or is missing.
	Fault bool `json:"fault,omitempty"`
	// Messages are the messages of the calls, if the request is verbose.
	Messages []string `json:"messages,omitempty"`
}

// The child itself ends its script at the timeout, and has the evidence then. These are for one
// that does not.
const (
	overtime = 3 * time.Second
	// GraceTime is how long a process may take to exit when asked to.
	GraceTime = 2 * time.Second
)

// Ask starts a child for a request about a target, returns its answer, and leaves no process or
// file behind.
func Ask(ctx context.Context, req Request) (Message, error) {
	exe, err := os.Executable()
	if err != nil {
		return Message{}, fmt.Errorf("find this program, to ask tmux with: %w", err)
	}
	if req.Dir, err = RunDir(""); err != nil {
		return Message{}, err
	}
	defer os.RemoveAll(req.Dir)
	if err := MakeDirs(req.Dir); err != nil {
		return Message{}, err
	}
	answer, err := Converse(ctx, []string{exe, Arg}, req)
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case errors.Is(err, ErrOvertime):
		return answer, fmt.Errorf("no answer within %v", req.Timeout)
	case err == nil && answer.Err != "":
		return answer, errors.New(answer.Err)
	}
	return answer, err
}

// ErrOvertime means that a child did not answer within the timeout of its request.
var ErrOvertime = errors.New("no end in time")

// lazyGC makes a child, which lives for a moment, collect no garbage until that is half of what
// [Watch] allows.
var lazyGC = []string{"GOGC=800", fmt.Sprintf("GOMEMLIMIT=%d", maxMemory/2)}

// Converse starts a child for a request, and returns its last message once the child and all that
// it started have ended.
func Converse(ctx context.Context, child []string, req Request) (Message, error) {
	p, err := start(child, req.Dir)
	if err != nil {
		return Message{}, err
	}
	defer p.end()
	return p.ask(ctx, req)
}

// Pool runs requests in children, each of which takes one request after the other.
type Pool struct {
	Child []string // the command that becomes one

	mu   sync.Mutex
	idle []*process
}

// Converse has a child answer a request, and returns its last message once all that it started for
// that has ended. A child is reused only after an answer without a failure.
func (p *Pool) Converse(ctx context.Context, req Request) (Message, error) {
	p.mu.Lock()
	var c *process
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	reused := c != nil
	if !reused {
		var err error
		if c, err = start(p.Child, req.Dir); err != nil {
			return Message{}, err
		}
	}
	last, err := c.ask(ctx, req)
	if reused && err != nil && last.Command == "" && ctx.Err() == nil && !errors.Is(err, ErrOvertime) {
		// It ended while it was idle.
		if c, err = start(p.Child, req.Dir); err != nil {
			return Message{}, err
		}
		last, err = c.ask(ctx, req)
	}
	if err != nil || ctx.Err() != nil || req.Keep || last.Cell == nil || last.Cell.Status.Bad() || slices.ContainsFunc(last.Cell.Claims, func(cl report.Claim) bool { return cl.Outcome.Failed() }) {
		c.end()
		return last, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	return last, nil
}

// End ends the children.
func (p *Pool) End() {
	for _, c := range p.idle {
		c.end()
	}
}

type process struct {
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	stdout   io.ReadCloser
	said     *output
	messages chan Message // closed when there will be no more
	answered bool         // it has answered all requests
	ended    bool
	waitErr  error // once ended
}

func start(child []string, dir string) (*process, error) {
	p := &process{cmd: exec.Command(child[0], child[1:]...), said: &output{left: 8192}, messages: make(chan Message, 16)}
	p.cmd.Dir, p.cmd.Env = dir, append(Environment(dir), lazyGC...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = GraceTime
	p.cmd.Stderr = stream{p.said, &p.said.stderr}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the script's process: %w", err)
	}
	go p.listen()
	return p, nil
}

// ask makes a request. If there is no answer, the child and all that it started have ended.
func (p *process) ask(ctx context.Context, req Request) (last Message, err error) {
	p.answered = false
	json.NewEncoder(p.stdin).Encode(req) // an error shows as the missing answer
	timer := time.NewTimer(req.Timeout + overtime)
	defer timer.Stop()
	timedOut, listening := false, true
	for listening && !last.Done {
		select {
		case m, more := <-p.messages:
			last, listening = last.then(m), more
		case <-ctx.Done():
			listening = false
		case <-timer.C:
			timedOut, listening = true, false
		}
	}
	if last.Done {
		p.answered = true
		return last, nil
	}
	last = last.then(p.end())
	switch {
	case last.Done:
		return last, nil
	case timedOut:
		return last, ErrOvertime
	case ctx.Err() != nil:
		return last, ctx.Err()
	}
	return last, fmt.Errorf("the script's process ended without an outcome: %v: %s", p.waitErr, Tail(p.said.stderr.String()))
}

// end ends the child and all that it started, and returns the messages that still came.
func (p *process) end() (last Message) {
	if p.ended {
		return last
	}
	p.ended = true
	// At the end of its input the child ends what it has started, and exits.
	io.WriteString(p.stdin, StopLine)
	p.stdin.Close()
	grace := time.After(GraceTime)
	for listening := true; listening; {
		select {
		case m, more := <-p.messages:
			last, listening = last.then(m), more
		case <-grace:
			endTree(p.cmd.Process.Pid)
			// Do not wait for other processes that hold the child's output open.
			p.stdout.Close()
		}
	}
	if !p.answered && !last.Done {
		endTree(p.cmd.Process.Pid)
	}
	p.waitErr = p.cmd.Wait()
	return last
}

// then merges the next message: the outcome, with the last command.
func (m Message) then(next Message) Message {
	switch {
	case next.Done:
		next.Command = m.Command
		return next
	case next.Command != "":
		m.Command = next.Command
	}
	return m
}

// listen passes on the child's messages.
func (p *process) listen() {
	defer close(p.messages)
	sc := bufio.NewScanner(p.stdout)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var m Message
		if json.Unmarshal(sc.Bytes(), &m) == nil {
			p.messages <- m
		}
	}
	io.Copy(io.Discard, p.stdout)
}

package adapter

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/peer"
)

// Config says how to start an adapter.
type Config struct {
	Words []string // its program and arguments; see [Shell]
	Dir   string
	Env   []string
	// Temp is the directory for the log of the adapter's standard error; default: that of
	// temporary files.
	Temp string
	// Trace, if set, is called with each message sent, prefixed with "→ ", and with each line
	// received, prefixed with "← ".
	Trace func(line string)
}

// Shell returns the words that run a shell command.
func Shell(command string) []string { return []string{"/bin/sh", "-c", command} }

// leaveTime is how long an adapter may take to exit after the end of its input.
const leaveTime = time.Second

// graceTime is how long its output may take to end once it has exited, and half of how long it
// may take to exit once its output has ended. Tests shorten it.
var graceTime = 2 * time.Second

// Client is an [Asker] for an adapter process. Whatever the process does, a request ends when its
// context does, and [Client.Close] leaves nothing of the process group.
type Client struct {
	// Described is how the adapter describes itself.
	Described report.Described

	trace func(line string)
	peer  *peer.Peer
	log   peer.Log    // its standard error
	lines chan []byte // closed at the end of its output
	long  bool        // once closed: because a line was too long

	mu     sync.Mutex
	id     int64
	heard  string
	wrote  chan struct{} // closed when the last request is written, or the write has failed
	failed *Failure      // why no more requests can be made
	close  func() error
}

// Start starts an adapter and asks it to describe itself, within ctx. Its error is a [*Failure].
func Start(ctx context.Context, cfg Config) (*Client, error) {
	c, err := run(cfg)
	if err != nil {
		return nil, &Failure{Kind: NotStarted, Text: fmt.Sprintf("start the adapter: %v", err)}
	}
	if err := c.describe(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// run starts the process without making a request.
func run(cfg Config) (*Client, error) {
	c := &Client{lines: make(chan []byte), trace: cfg.Trace}
	if c.trace == nil {
		c.trace = func(string) {}
	}
	c.close = sync.OnceValue(c.end)
	var err error
	if c.log, err = peer.NewLog(cfg.Temp); err != nil {
		return nil, err
	}
	os.Remove(c.log.Name()) // it lives as long as it is open
	cmd := exec.Command(cfg.Words[0], cfg.Words[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = cfg.Dir, cfg.Env, c.log.File
	if c.peer, err = peer.Open(cmd, peer.KillOrphans); err != nil {
		c.log.Close()
		return nil, err
	}
	go c.read()
	return c, nil
}

// read passes on the lines that the adapter writes.
func (c *Client) read() {
	defer close(c.lines)
	sc := bufio.NewScanner(c.peer.Stdout)
	sc.Buffer(nil, maxMessage)
	sc.Split(wholeLines)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		c.lines <- bytes.Clone(sc.Bytes()) // if nobody waits for it, Close takes it
	}
	c.long = errors.Is(sc.Err(), bufio.ErrTooLong)
}

// wholeLines splits a text into lines. It drops an unfinished last line that is not JSON: the
// process ended while it wrote.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if atEOF && !bytes.ContainsRune(data, '\n') && !json.Valid(data) {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

func (c *Client) describe(ctx context.Context) error {
	raw, err := c.Ask(ctx, Request{"describe", map[string]any{"protocol": Protocol}})
	var refused *Error
	var f *Failure
	switch {
	case errors.As(err, &refused):
		return &Failure{Kind: NotStarted, Text: "the adapter does not describe itself: " + refused.Message, Stderr: c.said()}
	case errors.As(err, &f) && f.Kind == Ended:
		return &Failure{Kind: NotStarted, Text: f.Text, Stderr: f.Stderr}
	case err != nil:
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return misfit("%v", err)
	}
	var its struct{ Protocol json.Number }
	if decode(raw, &its) == nil && its.Protocol != "" && its.Protocol.String() != strconv.Itoa(Protocol) {
		return &Failure{Kind: NotStarted, Text: fmt.Sprintf("the adapter speaks protocol %s, and this mcp-conform %d", its.Protocol, Protocol)}
	}
	if err := fit(schemas().described, value); err != nil {
		return err
	}
	return json.Unmarshal(raw, &c.Described)
}

// Ask sends a request and returns the result. Its error is an [*Error] if the adapter answers with
// one, and otherwise a [*Failure]. After a failure other than [Misfit], all requests fail with it.
func (c *Client) Ask(ctx context.Context, r Request) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = ""
	if c.failed != nil {
		return nil, c.failed
	}
	result, err := c.exchange(ctx, r)
	var f *Failure
	if errors.As(err, &f) && f.Kind != Misfit {
		c.failed = f
		c.peer.Kill()
	}
	return result, err
}

// Heard returns the message that answered the last request, or "".
func (c *Client) Heard() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard
}

func (c *Client) exchange(ctx context.Context, r Request) (json.RawMessage, error) {
	c.id++
	message, err := envelope{ID: json.RawMessage(strconv.FormatInt(c.id, 10)), Method: r.Method, Params: r.Params}.encode()
	if err != nil {
		return nil, err
	}
	if c.wrote != nil {
		select {
		case <-c.wrote:
		case <-ctx.Done():
			return nil, c.late(r)
		}
	}
	c.trace("→ " + strings.TrimSpace(string(message)))
	wrote := make(chan struct{})
	c.wrote = wrote
	go func() {
		c.peer.Stdin.Write(message) // an error shows as the missing answer
		close(wrote)
	}()
	for exited := c.peer.Exited; ; {
		select {
		case line, ok := <-c.lines:
			if ok {
				c.trace("← " + string(line))
			}
			if !ok {
				return nil, c.gone(ctx, r)
			}
			c.heard = string(line)
			return readAnswer(line, c.id)
		case <-ctx.Done():
			return nil, c.late(r)
		case <-exited:
			// Its last output may not have been read yet, and a process that left its group
			// may hold the pipe open.
			exited = nil
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, graceTime)
			defer cancel()
		}
	}
}

// late returns the failure of a request whose context has ended.
func (c *Client) late(r Request) error {
	select {
	case <-c.peer.Exited:
		return c.ended(r)
	default:
		return &Failure{Kind: TimedOut, Text: "no answer to " + r.Method, Stderr: c.said()}
	}
}

// gone returns the failure of a request during which the output ended.
func (c *Client) gone(ctx context.Context, r Request) error {
	if c.long {
		return atFault("the adapter wrote more than %d MiB without the end of a line", maxMessage>>20)
	}
	select {
	case <-c.peer.Exited:
		return c.ended(r)
	case <-ctx.Done():
	case <-time.After(2 * graceTime):
	}
	return &Failure{Kind: Ended, Text: "the adapter closed its standard output when asked for " + r.Method, Stderr: c.said()}
}

func (c *Client) ended(r Request) error {
	return &Failure{Kind: Ended, Text: fmt.Sprintf("the adapter ended when asked for %s: %v", r.Method, c.peer.Cmd.ProcessState), Stderr: c.said()}
}

// said returns the end of what the adapter wrote to standard error, on one line.
func (c *Client) said() string { return child.Tail(c.log.Tail(2000)) }

// Close closes the adapter's input, gives it a second to exit, and kills what is left of its
// process group. It returns a [*Failure] if the adapter has written a line that answers no request.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.close()
}

func (c *Client) end() error {
	var surplus []byte
	over := make(chan struct{})
	go func() {
		surplus = <-c.lines
		for range c.lines { // until it is closed
		}
		close(over)
	}()
	c.peer.End(leaveTime, 0)
	select {
	case <-over:
	case <-time.After(leaveTime): // a process that left the group holds the pipe
	}
	c.peer.Stdout.Close()
	<-over
	c.log.Close()
	if c.failed == nil && surplus != nil {
		return atFault("the adapter wrote a line that it was not asked for: %.200q", surplus)
	}
	c.failed = cmp.Or(c.failed, &Failure{Kind: Ended, Text: "the adapter was closed"})
	return nil
}

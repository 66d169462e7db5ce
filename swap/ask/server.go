package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/internal/peer"
	"tmuxmcp/internal/proctree"
)

// ServerLimit is how long a server may take to answer, unless its [Command] has a Limit. uv and go
// may have to build it first.
const ServerLimit = 60 * time.Second

// ErrLate is wrapped by the error for a server that exceeds the limit.
var ErrLate = errors.New("no answer")

// ErrNotHere is wrapped by the error for a program that is not on PATH. A client may have another
// PATH.
var ErrNotHere = errors.New("is not on PATH here: install it")

// A Command starts a server.
type Command struct {
	Argv []string
	Env  []string // NAME=VALUE, in addition to those of this process
	Only []string // names of this process's variables to pass on; nil: all
	Dir  string   // "": the current directory
	// Tools makes [Server] list the server's tools too.
	Tools bool
	Limit time.Duration // 0: ServerLimit
}

// A Hello is how a server introduces itself.
type Hello struct {
	Name, Version string
	Tools         []string // their names, if requested
}

// Server starts a server over stdio, completes an MCP initialize with it, and ends it with all
// processes that it has started. The error for a server that exits, or does not answer in time,
// ends with the last lines of its stderr.
func Server(ctx context.Context, c Command) (Hello, error) {
	limit, cancel := context.WithTimeout(ctx, cmp.Or(c.Limit, ServerLimit))
	defer cancel()
	var tail output
	program, err := c.look()
	if strings.ContainsAny(c.Argv[0], `/\`) {
		program = c.Argv[0] // the system's error says more
	} else if err != nil {
		return Hello{}, fmt.Errorf("start %s: %w", strings.Join(ShowArgs(c.Argv), " "), err)
	}
	cmd := &exec.Cmd{Path: program, Args: c.Argv, Env: c.environ(), Dir: c.Dir}
	cmd.Stderr = &tail
	cmd.WaitDelay = time.Second
	defer running()()
	p, err := peer.Open(cmd, peer.KeepOrphans)
	if err != nil {
		return Hello{}, fmt.Errorf("start %s: %w", strings.Join(ShowArgs(c.Argv), " "), err)
	}
	defer p.Stdout.Close()
	stop := context.AfterFunc(limit, func() { // ends a read or write
		_ = p.Stdin.Close()
		_ = p.Stdout.Close()
	})
	stdout := &bounded{ReadCloser: p.Stdout}
	hello, what, err := converse(overLines(p.Stdin, stdout), http.Header{}, c.Tools)
	stop()
	if err != nil && (limit.Err() != nil || stdout.over()) {
		p.Kill() // its time is up
	}
	left := p.End(2*time.Second, 3*time.Second)
	switch {
	case err == nil:
		return hello, nil
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", ctx.Err())
	case limit.Err() != nil:
		err = fmt.Errorf("%w to %s within %v", ErrLate, what, cmp.Or(c.Limit, ServerLimit))
	case stdout.over():
		err = fmt.Errorf("it printed more than %d MiB before it answered %s", maxOutput>>20, what)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE), errors.Is(err, os.ErrClosed):
		err = fmt.Errorf("it exited before it answered %s", what)
		if left && p.Err != nil {
			err = fmt.Errorf("%w (%w)", err, p.Err)
		}
	}
	return Hello{}, fmt.Errorf("%s: %w%s", strings.Join(ShowArgs(c.Argv), " "), err, Redact(tail.indented(), c))
}

func (c Command) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return c.Only != nil && !slices.Contains(c.Only, name)
	})
	if c.Dir != "" {
		env = append(env, "PWD="+c.Dir)
	}
	return append(env, c.Env...)
}

// Look returns why the program of the command cannot be run: it is not on the PATH that the command
// gets, where clients look for it, or the file is gone. For a relative path it returns nil.
func (c Command) Look() error {
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]) && strings.ContainsAny(c.Argv[0], `/\`) {
		return nil
	}
	_, err := c.look()
	return err
}

// look finds the program of the command.
func (c Command) look() (string, error) {
	name := c.Argv[0]
	at := func(file string) (string, error) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.Dir, file)
		}
		return exec.LookPath(file)
	}
	if strings.ContainsAny(name, `/\`) {
		file, err := at(name)
		if err != nil {
			return "", fmt.Errorf("%s is gone or cannot be run", name)
		}
		return file, nil
	}
	path, own := "", false // the last of several counts
	for _, v := range c.environ() {
		if of, value, _ := strings.Cut(v, "="); of == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(of, "PATH") {
			path = value
		}
	}
	for _, v := range c.Env {
		own = own || strings.HasPrefix(v, "PATH=")
	}
	for _, dir := range filepath.SplitList(path) {
		if file, err := at(filepath.Join(dir, name)); err == nil && dir != "" {
			return file, nil
		}
	}
	if own {
		return "", fmt.Errorf("%s is not on the PATH that the entry sets, %q", name, path)
	}
	return "", fmt.Errorf("%s %w", name, ErrNotHere)
}

// maxOutput bounds what a server may print, or send, in one call: lines are read whole.
const maxOutput = 16 << 20

// bounded ends with the first byte beyond maxOutput.
type bounded struct {
	io.ReadCloser
	n atomic.Int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.over() {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}

func (b *bounded) over() bool { return b.n.Load() > maxOutput }

// adopted is set if the only children of this process are programs of this package.
var adopted bool

// Adopt makes this process adopt, and then kill, what its programs leave behind in sessions of
// their own. It works on Linux only, and does nothing if the process already has children: exec may
// have replaced their parent.
func Adopt() {
	children, err := proctree.Children(os.Getpid())
	if adopted = err == nil && len(children) == 0; adopted {
		proctree.Adopt()
	}
}

// programs counts the running programs of this package.
var programs struct {
	sync.Mutex
	n int
}

// running counts a program that is about to run. The caller calls ended once the program has been
// waited for; when no other program runs, that kills what they have left behind.
func running() (ended func()) {
	programs.Lock()
	programs.n++
	programs.Unlock()
	return sync.OnceFunc(func() {
		programs.Lock()
		defer programs.Unlock()
		if programs.n--; programs.n == 0 && adopted {
			proctree.EndChildren()
		}
	})
}

// Errors of [URL].
var (
	// ErrLogin is wrapped by the error for a server that answers 401 or 403.
	ErrLogin = errors.New("no headers were sent")
	// ErrNotThere is wrapped by the error for a server that does not speak streamable HTTP at
	// the address. It may have the older transport, HTTP+SSE.
	ErrNotThere = errors.New("it speaks no streamable HTTP there")
)

// endLimit is how long a server may take to confirm the end of its session.
var endLimit = 5 * time.Second

// URL completes an MCP initialize with a running server, and lists its tools if requested.
// It sends no headers, and follows no redirect to another host.
func URL(ctx context.Context, url string, tools bool, limit time.Duration) (Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last lastStatus
	web := &http.Client{Transport: &last, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Host != via[0].URL.Host || len(via) > 9 {
			return errors.New("it redirects to another host, or too often")
		}
		return nil
	}}
	header := http.Header{}
	send := overHTTP(ctx, web, url, header)
	hello, what, err := converse(send, header, tools)
	status := int(last.Load())
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if header.Get(mcp.HeaderSessionID) != "" {
		defer time.AfterFunc(endLimit, cancel).Stop()
		_, _ = send(message{})
	}
	answer := fmt.Sprintf("the answer to %s is %d %s", what, status, http.StatusText(status))
	switch {
	case err == nil:
		return hello, nil
	case late:
		err = fmt.Errorf("%w to %s within %v", ErrLate, what, limit)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		err = fmt.Errorf("%s, and %w", answer, ErrLogin)
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("%s without a result", answer)
	case errors.Is(err, ErrNotThere):
		err = fmt.Errorf("%s: %w", answer, ErrNotThere)
	default:
		err = errors.New(brief(strings.ReplaceAll(unwrapped(err).Error(), url, ShowURL(url))))
	}
	return Hello{}, fmt.Errorf("%s: %w", ShowURL(url), err)
}

// unwrapped returns the error of a request without the URL, which may contain secrets.
func unwrapped(err error) error {
	var of *neturl.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// lastStatus is a transport that keeps the status of the last response, and bounds their bodies.
type lastStatus struct{ atomic.Int32 }

func (s *lastStatus) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	s.Store(0)
	if answer != nil {
		s.Store(int32(answer.StatusCode))
		answer.Body = &bounded{ReadCloser: answer.Body}
	}
	return answer, err
}

// Run runs a command to completion. Its error ends with the last lines of its output.
func Run(ctx context.Context, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	var tail output
	cmd.Stdout, cmd.Stderr = &tail, &tail
	defer running()()
	p, err := peer.Start(cmd, peer.KeepOrphans)
	if err == nil {
		<-p.Exited
		err = p.Err
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%w%s", err, tail.indented())
}

// output keeps the end of what a program writes.
type output struct {
	limit int           // in bytes; 0: enough for the last lines
	news  chan struct{} // receives a value after a write; may be nil

	mu   sync.Mutex
	text []byte
}

const tailLines = 10

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.text = append(o.text, p...)
	if cut := len(o.text) - cmp.Or(o.limit, 8<<10); cut > 0 {
		o.text = append(o.text[:0], o.text[cut:]...)
	}
	o.mu.Unlock()
	select {
	case o.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// indented returns the last lines, each after a newline and four spaces.
func (o *output) indented() string {
	text := strings.TrimSpace(strings.ToValidUTF8(o.String(), "?"))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for _, line := range lines[max(0, len(lines)-tailLines):] {
		b.WriteString("\n    " + printable(strings.TrimRight(line, "\r")))
	}
	return b.String()
}

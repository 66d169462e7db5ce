package swap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// HandshakeLimit is how long a server may take to answer; uv and go may have
// to build it first.
const HandshakeLimit = 60 * time.Second

// Handshake starts a server over stdio, completes an MCP initialize with it,
// lets then (may be nil) talk to it, and stops it. It gives what the server
// calls itself. Nothing that the server has started is left when it returns.
// The error of a server that exits or does not answer in [HandshakeLimit] ends
// with the last lines of its stderr.
func Handshake(ctx context.Context, argv []string, env []EnvVar, then func(context.Context, *client.Client) error) (mcp.Implementation, error) {
	return handshake(ctx, argv, env, "", then)
}

// handshake is [Handshake] in a directory.
func handshake(ctx context.Context, argv []string, env []EnvVar, dir string, then func(context.Context, *client.Client) error) (mcp.Implementation, error) {
	limit, cancel := context.WithTimeout(ctx, HandshakeLimit)
	defer cancel()
	vars := os.Environ()
	if dir != "" {
		vars = append(vars, "PWD="+dir)
	}
	for _, e := range env {
		vars = append(vars, e.Name+"="+e.Value)
	}
	var tail tailBuffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = vars
	cmd.Dir = dir
	cmd.Stderr = &tail
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	server := transport.NewStdioWithOptions(argv[0], nil, nil, transport.WithCommandFunc(
		func(context.Context, string, []string, []string) (*exec.Cmd, error) { return cmd, nil }))
	conn := client.NewClient(server)
	if err := conn.Start(limit); err != nil {
		return mcp.Implementation{}, fmt.Errorf("start %s: %w", strings.Join(argv, " "), err)
	}

	var hello mcp.InitializeRequest
	// The newest revision that has an initialize at all.
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-swap", Version: "1"}
	answer, err := conn.Initialize(limit, hello)
	what := "initialize"
	if err == nil && then != nil {
		what = "what follows initialize"
		err = then(limit, conn)
	}
	if err != nil && limit.Err() != nil {
		_ = killGroup(cmd) // it had its time
	}
	closeErr := conn.Close()
	_ = killGroup(cmd) // what the server has started and left behind
	switch {
	case err == nil:
		return answer.ServerInfo, nil
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", ctx.Err())
	case limit.Err() != nil:
		err = fmt.Errorf("no answer to %s within %v", what, HandshakeLimit)
	case errors.Is(err, transport.ErrTransportClosed):
		err = fmt.Errorf("it exited before it answered %s", what)
		if closeErr != nil {
			err = fmt.Errorf("%w (%w)", err, closeErr)
		}
	}
	return mcp.Implementation{}, fmt.Errorf("%s: %w%s", strings.Join(argv, " "), err, tail.indented())
}

// A tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailBytes = 8 << 10
	tailLines = 10
)

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-tailBytes):]...)
	if cut := len(t.text) - tailBytes; cut > 0 {
		t.text = append(t.text[:0], t.text[cut:]...)
	}
	return len(p), nil
}

// indented gives the last lines, each behind a newline and spaces; "" if there
// are none.
func (t *tailBuffer) indented() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.text), "?"))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("\n    " + printable(strings.TrimRight(line, "\r")))
	}
	return b.String()
}

// printable takes control characters out of a line that another program wrote,
// so that it cannot steer the terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, line)
}

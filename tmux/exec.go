package tmux

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// execTransport runs the tmux client program, one process for a command list.
type execTransport struct {
	binary string
	// flags stand before the commands: -u, -L or -S, -f.
	flags []string
	env   []string
}

// waitDelay is how long the pipes of a client that is gone may stay open before they
// are closed on our side. The tmux server has them too, until it notices.
const waitDelay = time.Second

func (t *execTransport) run(ctx context.Context, req request) (reply, error) {
	args := make([]string, 0, len(t.flags)+len(req.words))
	args = append(args, t.flags...)
	args = append(args, req.words...)
	cmd := exec.CommandContext(ctx, t.binary, args...)
	cmd.Env = t.env
	cmd.WaitDelay = waitDelay
	if req.stdin != nil {
		cmd.Stdin = bytes.NewReader(req.stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if req.printed != nil {
		cmd.Stdout = noticing{&stdout, req.printed}
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return reply{code: -1}, context.Cause(ctx)
	}
	rep := reply{stdout: stdout.Bytes(), stderr: bytes.TrimRight(stderr.Bytes(), "\n")}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		rep.code = exit.ExitCode()
	case errors.Is(err, exec.ErrWaitDelay):
		rep.open = true
	default:
		return reply{code: -1}, err
	}
	return rep, nil
}

// noticing is a writer that says when something is written.
type noticing struct {
	io.Writer
	notice func()
}

func (w noticing) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.notice()
	return n, err
}

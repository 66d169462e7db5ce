package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ExecTransport runs the tmux client program, one process per command list. The list is
// passed on standard input, because every user can see arguments.
type ExecTransport struct {
	Binary string
	// Flags precede the commands: -u, -L or -S, -f.
	Flags  []string
	socket Socket
	// Env is used if a server may be started, which inherits it, or a session created;
	// otherwise lean, which is enough for the program.
	Env, lean []string
}

// leanEnvironment returns what the tmux program needs to run and to find the server.
func leanEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TMUX_TMPDIR", "TERM", "TZ", "LANG", "LANGUAGE":
			return false
		}
		for _, prefix := range []string{"LC_", "LD_", "DYLD_", "TERMINFO"} {
			if strings.HasPrefix(name, prefix) {
				return false
			}
		}
		return true
	})
}

// Reach checks the server before the program is started, since the program does not. If
// nothing listens and the list starts no server, it returns the answer.
func (t *ExecTransport) Reach(ctx context.Context, req Request) (answer *Reply, err error) {
	conn, err := t.socket.dial(ctx)
	none := errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
	switch {
	case err == nil:
		conn.Close()
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !none || !req.StartsServer:
		rep, err := t.socket.noServer(err)
		return &rep, err
	default:
		if err := t.socket.checkLock(); err != nil {
			return nil, err
		}
	}
	return nil, t.socket.checkPath()
}

// WaitDelay is how long the pipes of an exited client may stay open before they are closed
// on our side. The tmux server has them too, until it notices.
const WaitDelay = time.Second

func (t *ExecTransport) run(ctx context.Context, req Request) (Reply, error) {
	if req.Mixed {
		// The server that the list was made for has exited.
		return Reply{Code: -1}, fmt.Errorf("%w before it got the commands", ErrServerGone)
	}
	if answer, err := t.Reach(ctx, req); err != nil {
		return Reply{Code: -1}, err
	} else if answer != nil {
		return *answer, nil
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	sourced := req.Stdin == nil
	if sourced {
		req = req.OnStdin()
	}
	cmd := exec.CommandContext(ctx, t.Binary, slices.Concat(t.Flags, req.Words)...)
	cmd.Env = t.lean
	if req.StartsServer || req.Needs == NeedsAll {
		cmd.Env = t.Env
	}
	cmd.WaitDelay = WaitDelay
	cmd.Stdin = bytes.NewReader(req.Stdin)
	stdout, stderr := &BoundedWriter{GiveUp: giveUp}, &BoundedWriter{GiveUp: giveUp}
	stdout.notice, stdout.file = req.Printed, req.File
	cmd.Stdout, cmd.Stderr = stdout, stderr
	req.Turn.begin()
	err := cmd.Run()
	if ctx.Err() != nil {
		return Reply{Code: -1}, context.Cause(ctx)
	}
	rep := Reply{Stdout: stdout.Bytes(), Stderr: bytes.TrimRight(stderr.Bytes(), "\n")}
	var exit *exec.ExitError
	switch {
	case err == nil:
		if bytes.HasPrefix(rep.Stderr, []byte(Creating[1:])) {
			rep.Code = 1
		}
	case errors.As(err, &exit):
		rep.Code = exit.ExitCode()
		if sourced {
			rep.asGiven()
		}
	case errors.Is(err, exec.ErrWaitDelay):
		rep.Open = true
	default:
		return Reply{Code: -1}, Exhausted(err)
	}
	return rep, nil
}

// asGiven makes the errors of a sourced list look like the errors of the same list
// given as arguments: without the position in the file, and with parse errors on
// standard error instead of standard output, where they may follow what tmux has to say
// about its configuration.
func (r *Reply) asGiven() {
	if len(r.Stderr) == 0 {
		var out, parse []byte
		for line := range bytes.Lines(r.Stdout) {
			if bytes.HasPrefix(line, sourcedAt) {
				parse = append(parse, line...)
			} else {
				out = append(out, line...)
			}
		}
		if parse != nil {
			r.Stdout, r.Stderr = out, bytes.TrimRight(parse, "\n")
		}
	}
	r.Stderr = bytes.TrimPrefix(r.Stderr, sourcedAt)
	r.Stderr = bytes.ReplaceAll(r.Stderr, append([]byte("\n"), sourcedAt...), []byte("\n"))
}

// sourcedAt is tmux's prefix for an error in the first line of standard input.
var sourcedAt = []byte("-:1: ")

// BoundedWriter collects what the program prints, and ends the program if that is too much.
type BoundedWriter struct {
	printed
	GiveUp context.CancelCauseFunc
}

func (w *BoundedWriter) Write(p []byte) (int, error) {
	if err := w.add(p); err != nil {
		w.GiveUp(err)
		return 0, err
	}
	return len(p), nil
}

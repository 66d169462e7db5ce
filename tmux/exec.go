package tmux

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

// execTransport runs the tmux client program, one process per command list. The list is
// passed on standard input, because every user can see arguments.
type execTransport struct {
	binary string
	// flags precede the commands: -u, -L or -S, -f.
	flags  []string
	socket socket
	// env is used if a server may be started, which inherits it, or a session created;
	// otherwise lean, which is enough for the program.
	env, lean []string
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

// reach checks the server before the program is started, since the program does not. If
// nothing listens and the list starts no server, it returns the answer.
func (t *execTransport) reach(ctx context.Context, req request) (answer *reply, err error) {
	conn, err := t.socket.dial(ctx)
	none := errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
	switch {
	case err == nil:
		conn.Close()
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !none || !req.startsServer:
		rep, err := t.socket.noServer(err)
		return &rep, err
	default:
		if err := t.socket.checkLock(); err != nil {
			return nil, err
		}
	}
	return nil, t.socket.checkPath()
}

// waitDelay is how long the pipes of an exited client may stay open before they are closed
// on our side. The tmux server has them too, until it notices.
const waitDelay = time.Second

func (t *execTransport) run(ctx context.Context, req request) (reply, error) {
	if req.mixed {
		// The server that the list was made for has exited.
		return reply{code: -1}, fmt.Errorf("%w before it got the commands", ErrServerGone)
	}
	if answer, err := t.reach(ctx, req); err != nil {
		return reply{code: -1}, err
	} else if answer != nil {
		return *answer, nil
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	sourced := req.stdin == nil
	if sourced {
		req = req.onStdin()
	}
	cmd := exec.CommandContext(ctx, t.binary, slices.Concat(t.flags, req.words)...)
	cmd.Env = t.lean
	if req.startsServer || req.needs == needsAll {
		cmd.Env = t.env
	}
	cmd.WaitDelay = waitDelay
	cmd.Stdin = bytes.NewReader(req.stdin)
	stdout, stderr := &boundedWriter{giveUp: giveUp}, &boundedWriter{giveUp: giveUp}
	stdout.notice, stdout.file = req.printed, req.file
	cmd.Stdout, cmd.Stderr = stdout, stderr
	req.turn.begin()
	err := cmd.Run()
	if ctx.Err() != nil {
		return reply{code: -1}, context.Cause(ctx)
	}
	rep := reply{stdout: stdout.bytes(), stderr: bytes.TrimRight(stderr.bytes(), "\n")}
	var exit *exec.ExitError
	switch {
	case err == nil:
		if bytes.HasPrefix(rep.stderr, []byte(creating[1:])) {
			rep.code = 1
		}
	case errors.As(err, &exit):
		rep.code = exit.ExitCode()
		if sourced {
			rep.asGiven()
		}
	case errors.Is(err, exec.ErrWaitDelay):
		rep.open = true
	default:
		return reply{code: -1}, exhausted(err)
	}
	return rep, nil
}

// asGiven makes the errors of a sourced list look like the errors of the same list
// given as arguments: without the position in the file, and with parse errors on
// standard error instead of standard output, where they may follow what tmux has to say
// about its configuration.
func (r *reply) asGiven() {
	if len(r.stderr) == 0 {
		var out, parse []byte
		for line := range bytes.Lines(r.stdout) {
			if bytes.HasPrefix(line, sourcedAt) {
				parse = append(parse, line...)
			} else {
				out = append(out, line...)
			}
		}
		if parse != nil {
			r.stdout, r.stderr = out, bytes.TrimRight(parse, "\n")
		}
	}
	r.stderr = bytes.TrimPrefix(r.stderr, sourcedAt)
	r.stderr = bytes.ReplaceAll(r.stderr, append([]byte("\n"), sourcedAt...), []byte("\n"))
}

// sourcedAt is tmux's prefix for an error in the first line of standard input.
var sourcedAt = []byte("-:1: ")

// boundedWriter collects what the program prints, and ends the program if that is too much.
type boundedWriter struct {
	printed
	giveUp context.CancelCauseFunc
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if err := w.add(p); err != nil {
		w.giveUp(err)
		return 0, err
	}
	return len(p), nil
}

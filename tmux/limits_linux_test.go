package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

const limitedEnv = "TMUX_TEST_LIMITED"

// A process that has run out of file descriptors says so: it does not take the server for
// dead, or change the transport.
func TestFileDescriptorsRunOut(t *testing.T) {
	if at := os.Getenv(limitedEnv); at != "" {
		way, socket, _ := strings.Cut(at, ":")
		withoutDescriptors(t, tmux.Transport(way), socket)
		return
	}
	srv := testserver.Started(t)
	for _, way := range transports {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFileDescriptorsRunOut$")
		cmd.Env = append(os.Environ(), limitedEnv+"="+string(way)+":"+srv.SocketPath())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", way, err, out)
		}
	}
}

func withoutDescriptors(t *testing.T, way tmux.Transport, socket string) {
	var log bytes.Buffer
	cfg := tmux.Config{Binary: testserver.Binary(t), SocketPath: socket, Transport: way, Logger: debugLog(&log)}
	srv, ctx := testserver.Handle(t, cfg), testserver.Context(t)
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
	limit := syscall.Rlimit{Cur: 80, Max: 80}
	check.OK(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	var held []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		held = append(held, f)
	}
	named, worked := 0, 0
	for step, free := testtool.Size(3, 1), 0; free < 24; free += step {
		for what, call := range map[string]func(*tmux.Server) error{
			"a list":   func(s *tmux.Server) error { return do(ctx, s, tmux.ListSessions{}) },
			"a change": func(s *tmux.Server) error { return do(ctx, s, tmux.NewSession{Detached: true}) },
			"a look":   func(s *tmux.Server) error { return check.Second(follow.LookAt(ctx, s, s.Pane("%0"), nil)) },
			"text":     func(s *tmux.Server) error { return check.Second(s.Source(ctx, []byte("list-sessions"))) },
			"version":  func(s *tmux.Server) error { return check.Second(s.Version(ctx)) },
			"kill":     func(s *tmux.Server) error { return s.Pane("%99").Kill(ctx) },
			"a wait": func(s *tmux.Server) error {
				done, cancel := context.WithCancel(ctx)
				cancel()
				return s.Channel("c").Wait(done)
			},
			"a first call": func(*tmux.Server) error {
				return do(ctx, testserver.Handle(t, cfg), tmux.ListSessions{})
			},
		} {
			switch err := call(srv); {
			case err == nil, errors.Is(err, tmux.ErrNotFound), errors.Is(err, context.Canceled):
				worked++
			case errors.Is(err, tmux.ErrExhausted) && errors.Is(err, syscall.EMFILE) && strings.Contains(err.Error(), "ulimit -n"):
				named++
			default:
				t.Errorf("%s with %d descriptors: %v", what, free, err)
			}
		}
		for _, f := range held[free : free+step] {
			f.Close()
		}
	}
	check.That(t, named >= 5 && worked >= 20, "%d calls ran out of descriptors, %d worked", named, worked)
	check.That(t, !strings.Contains(log.String(), "using the tmux program"), "the way changed:\n%s", &log)
}

// Each of these system errors is named, with what to do.
func TestWhatRunsOutIsNamed(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]string{
		syscall.EMFILE: "ulimit -n", syscall.ENFILE: "fs.file-max", syscall.ENOMEM: "no memory", syscall.EAGAIN: "ulimit -u",
	} {
		err := tmux.Exhausted(fmt.Errorf("dial: %w", errno))
		if check.Kind(t, errno.Error(), err, tmux.ErrExhausted); !errors.Is(err, errno) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", errno, err)
		}
	}
	for text, want := range map[string]error{
		"error connecting to /tmp/s (Too many open files)":                    tmux.ErrExhausted,
		"create window failed: fork failed: Resource temporarily unavailable": tmux.ErrExhausted,
		"create pane failed: fork failed: Cannot allocate memory":             tmux.ErrExhausted,
		"error connecting to /tmp/s (No such file or directory)":              tmux.ErrNoServer,
		"can't find session: Too many open files":                             tmux.ErrNotFound,
		"create window failed: index 0 in use":                                tmux.ErrExists,
	} {
		check.Kind(t, text, tmux.KindOf(text), want)
	}
}

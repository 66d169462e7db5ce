//go:build unix

package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"tmuxmcp/internal/test/testtool"
)

// asServer makes the re-executed test an MCP server, in one of several ways. Each starts a
// child that ignores signals and records its pid.
const asServer = "SWAP_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(asServer) {
	case "":
		testtool.Parallel(8) // they wait
		os.Exit(m.Run())
	case "caller": // asks a server, in a process of its own
		Adopt()
		_, err := Server(context.Background(), Command{Argv: os.Args[:1], Env: []string{asServer + "=" + os.Getenv("HOW"), "DETACH=1"}})
		fmt.Println("asked:", err)
		os.Exit(0)
	case "child":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(time.Hour) // not select: without cgo that is a deadlock
	}
	how := os.Getenv(asServer)
	if how == "garbage" {
		babble(100)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=child")
	cmd.Stderr = os.Stderr
	if os.Getenv("DETACH") != "" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	pids := fmt.Sprintf("%d %d\n", os.Getpid(), cmd.Process.Pid)
	if err := os.WriteFile(os.Getenv("PIDS"), []byte(pids), 0o600); err != nil {
		panic(err)
	}
	switch how {
	case "good":
		s := server.NewMCPServer("good", "7")
		s.AddTool(mcp.NewTool("one"), nil)
		_ = server.NewStdioServer(s).Listen(context.Background(), os.Stdin, os.Stdout)
	case "silent":
		time.Sleep(time.Hour) // not select: without cgo that is a deadlock
	case "line": // without an end
		for p := bytes.Repeat([]byte("x"), 1<<20); ; {
			if _, err := os.Stdout.Write(p); err != nil {
				break
			}
		}
	case "garbage":
		babble(math.MaxInt)
	case "noisy": // fills the pipe of stderr before it answers
		for range 20000 {
			fmt.Fprintln(os.Stderr, "a line of the log\x1b[31m")
		}
		os.Exit(4)
	}
	os.Exit(0)
}

func babble(lines int) {
	for range lines {
		fmt.Println("this is not JSON")
		time.Sleep(time.Millisecond) // so that it prints for a while
	}
}

// program returns such a server as a command, and the file to which it writes its pids.
func program(t *testing.T, how string) (cmd *exec.Cmd, pids string) {
	pids = filepath.Join(t.TempDir(), "pids")
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"="+how, "PIDS="+pids)
	return cmd, pids
}

// hello starts such a server, optionally interrupts it once it is running, and fails if a
// process is left.
func hello(t *testing.T, how string, interrupted bool) (Hello, error) {
	t.Helper()
	cmd, pids := program(t, how)
	ctx := t.Context()
	if interrupted {
		ctx = untilItRuns(t, pids)
	}
	h, err := Server(ctx, Command{Argv: cmd.Args, Env: cmd.Env, Tools: true})
	gone(t, pids)
	return h, err
}

// untilItRuns returns a context that is done once a program has written its pids.
func untilItRuns(t *testing.T, pids string) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if b, _ := os.ReadFile(pids); strings.HasSuffix(string(b), "\n") {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return ctx
}

// gone fails if a process whose pid is in the file pids is left.
func gone(t *testing.T, pids string) {
	t.Helper()
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatalf("it was not started: %v", err)
	}
	for _, f := range strings.Fields(string(b)) {
		pid, _ := strconv.Atoi(f)
		deadline := time.Now().Add(time.Minute)
		for alive(pid) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("process %d is still there", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// alive reports whether a process exists and is not just waiting to be reaped.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestServer(t *testing.T) {
	t.Parallel()
	h, err := hello(t, "good", false)
	if err != nil || h.Name != "good" || h.Version != "7" || len(h.Tools) != 1 || h.Tools[0] != "one" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestServerFails(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"silent", "garbage"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if _, err := hello(t, how, true); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("noisy", func(t *testing.T) {
		t.Parallel()
		_, err := hello(t, "noisy", false)
		if err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.HasSuffix(err.Error(), "\n    a line of the log[31m") {
			t.Errorf("got %v", err)
		}
		if n := strings.Count(fmt.Sprint(err), "\n"); n != tailLines {
			t.Errorf("%d lines of stderr", n)
		}
	})
	if _, err := Server(t.Context(), Command{Argv: []string{filepath.Join(t.TempDir(), "none")}}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// What a server prints is bounded, with or without ends of lines.
func TestServerPrintsForEver(t *testing.T) {
	t.Parallel()
	_, err := hello(t, "line", false)
	if err == nil || !strings.Contains(err.Error(), "it printed more than 16 MiB before it answered initialize") {
		t.Errorf("got %v", err)
	}
}

// A process that a server has started in a session of its own ends with it.
func TestServerLeavesNoSession(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can adopt processes")
	}
	for _, how := range []string{"good", "noisy"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cmd, pids := program(t, "caller")
			cmd.Env = append(cmd.Env, "HOW="+how)
			out, err := cmd.Output()
			if err != nil || strings.HasPrefix(string(out), "asked: <nil>") != (how == "good") {
				t.Errorf("%s%v", out, err)
			}
			for _, f := range strings.Fields(readPids(t, pids)) { // at once, not in time
				if pid, _ := strconv.Atoi(f); alive(pid) {
					t.Errorf("process %d is still there", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

func readPids(t *testing.T, pids string) string {
	t.Helper()
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatalf("it was not started: %v", err)
	}
	return string(b)
}

// A program that ends at once may be gone before anything is written to it.
func TestServerThatEndsAtOnce(t *testing.T) {
	t.Parallel()
	for range 100 {
		_, err := Server(t.Context(), Command{Argv: []string{"/bin/sh", "-c", "exec <&-; exit 5"}})
		if err == nil || !strings.Contains(err.Error(), "it exited before it answered initialize (exit status 5)") {
			t.Fatalf("got %v", err)
		}
	}
}

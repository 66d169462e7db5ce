package adapter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/conform/internal/gap"
)

// config returns the adapter with a fault.
func config(t *testing.T, fault string) Config {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Words: []string{exe}, Env: append(os.Environ(), "ADAPTER_TEST_FAULT="+fault), Temp: t.TempDir()}
}

// leavesNothing checks that nothing of a process group is left but what is dead, and whose
// parent has not noticed yet.
func leavesNothing(t *testing.T, group int) {
	t.Helper()
	for pause := time.Millisecond; ; pause *= 2 {
		if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) || allDead(group) {
			return
		}
		if pause > time.Minute {
			t.Fatalf("something of process group %d is left", group)
		}
		time.Sleep(pause)
	}
}

// ask asks a stand-in to display "x", n times, and returns what the last time came to: the
// value, or the kind of the error and its text.
func ask(ctx context.Context, t *testing.T, c *Client, n int) string {
	t.Helper()
	call, err := Parse([]string{"display", "x"})
	if err != nil {
		t.Fatal(err)
	}
	var said Answer
	for range n {
		if said, err = call.Do(ctx, c, nil); err != nil {
			break
		}
	}
	return describeError(err, strings.TrimSpace(said.JSON))
}

func describeError(err error, otherwise string) string {
	var f *Failure
	var none gap.NotOffered
	switch {
	case errors.As(err, &none):
		return "not offered: " + err.Error()
	case errors.As(err, &f):
		return map[Kind]string{Misfit: "misfit", AtFault: "at fault", Ended: "ended", TimedOut: "timed out", NotStarted: "not started"}[f.Kind] + ": " + err.Error()
	case err != nil:
		return err.Error()
	}
	return otherwise
}

// What comes of adapters that are wrong, and that nothing of them is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	const right = "{\n  \"value\": \"x\"\n}"
	for fault, want := range map[string]string{
		"":                      right,
		"slow to start":         right,
		"leaves a child":        right,
		"stays":                 right,
		"blank lines":           right,
		"answers and ends":      right + " then ended: the adapter ended when asked for display: exit status 0",
		"no answer":             "timed out: no answer to display",
		"ends":                  "ended: the adapter ended when asked for display: exit status 3",
		"ends with a message":   "ended: the adapter ended when asked for display: exit status 1: Traceback: KeyError: 'x'",
		"ends within a line":    "ended: the adapter ended when asked for display: exit status 4",
		"killed":                "ended: the adapter ended when asked for display: signal: killed",
		"closes its output":     "ended: the adapter closed its standard output when asked for display: bye",
		"garbage":               `at fault: the adapter wrote a line to its standard output that is no message: "debug: asked for display"`,
		"an array":              `at fault: the adapter wrote a line to its standard output that is no message: "[{`,
		"another id":            "at fault: the adapter answered request 77, and not 2: ",
		"an id as text":         `at fault: the adapter answered request "2", and not 2: `,
		"no id":                 "at fault: the adapter could not read request 2: ",
		"two answers":           right + " then at fault: the adapter answered request 2 twice: ",
		"result and error":      "misfit: schema: a message has either a result or an error",
		"neither":               "misfit: schema: a message has either a result or an error",
		"rows is no array":      "misfit: schema: - at '/result/rows': got object, want array",
		"no jsonrpc":            `at fault: the adapter wrote a message without "jsonrpc": "2.0": `,
		"a request":             "at fault: the adapter wrote a request, which the protocol has none of: ",
		"5 MiB":                 "at fault: the adapter wrote more than 4 MiB without the end of a line",
		"floods without a line": "at fault: the adapter wrote more than 4 MiB without the end of a line",
		"not UTF-8":             "at fault: the adapter wrote a line that is not UTF-8: ",
		"no method":             "not offered: no Server.display",
		"no parameter":          "not offered: no format",
		"fails":                 "at fault: the adapter failed: KeyError",
		"refuses":               "{\n  \"error\": {\n    \"message\": \"no x\",\n    \"type\": \"E\"\n  }\n}",
		"floods":                right + " then at fault: the adapter answered request 2 twice: ",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			c, err := Start(t.Context(), config(t, fault))
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if fault == "no answer" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			got := ask(ctx, t, c, 1)
			if first, then, twice := strings.Cut(want, " then "); twice {
				if got != first {
					t.Errorf("first %s, want %s", got, first)
				}
				got, want = ask(ctx, t, c, 1), then
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			if again := ask(ctx, t, c, 1); again != got && fault != "" {
				t.Errorf("the next time %s, and before %s", again, got)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			leavesNothing(t, c.peer.Cmd.Process.Pid)
			if got := ask(t.Context(), t, c, 1); strings.HasPrefix(got, "{") && !strings.Contains(got, "error") {
				t.Errorf("after it was closed: %s", got)
			}
		})
	}
}

// What comes of adapters that do not start.
func TestNoStart(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"prints first":               `at fault: the adapter wrote a line to its standard output that is no message: "loading…"`,
		"protocol 2":                 "not started: the adapter speaks protocol 2, and this mcp-conform 1",
		"no name":                    "misfit: schema: - at '': missing property 'name'",
		"offers nothing":             "not started: the adapter does not describe itself: no describe",
		"ends at once":               "not started: the adapter ended when asked for describe: exit status 1: no module libtmux",
		"sh: nonesuch-adapter --x":   "not started: the adapter ended when asked for describe: exit status 127: ",
		"sh: exec sleep 600":         "timed out: no answer to describe",
		"sh: sleep 600 & sleep 600":  "timed out: no answer to describe",
		"sh: sleep 600 & exec false": "not started: the adapter ended when asked for describe: exit status 1",
		"exec: /nonesuch/adapter":    "not started: start the adapter: ",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, fault)
			program, exec := strings.CutPrefix(fault, "exec: ")
			command, shell := strings.CutPrefix(fault, "sh: ")
			group := filepath.Join(t.TempDir(), "group")
			cfg.Env = append(cfg.Env, "GROUP="+group)
			switch {
			case exec:
				cfg.Words = []string{program}
			case shell:
				cfg.Words = Shell(`echo $$ >"$GROUP"; ` + command)
			default:
				cfg.Words = Shell(`echo $$ >"$GROUP"; exec ` + cfg.Words[0])
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.HasPrefix(want, "timed out") {
				go func() { // once it runs
					for pid := ""; pid == "" && ctx.Err() == nil; time.Sleep(time.Millisecond) {
						text, _ := os.ReadFile(group)
						pid = strings.TrimSpace(string(text))
					}
					cancel()
				}()
			}
			c, err := Start(ctx, cfg)
			if got := describeError(err, "no error"); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			if c != nil {
				t.Error("a client without a process")
			}
			if !exec {
				text, err := os.ReadFile(group)
				pid, failed := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil || failed != nil {
					t.Fatal(err, failed)
				}
				leavesNothing(t, pid)
			}
			if left, err := os.ReadDir(cfg.Temp); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// A request that the adapter does not read ends with its context.
func TestAdapterNeverReads(t *testing.T) {
	t.Parallel()
	c, err := Start(t.Context(), config(t, "never reads"))
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t.Context(), t, c, 1); !strings.HasPrefix(got, "{") {
		t.Fatal(got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.Ask(ctx, Request{"display", map[string]any{"format": strings.Repeat("x", 3<<20)}})
	if got := describeError(err, "no error"); got != "timed out: no answer to display" {
		t.Error(got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	leavesNothing(t, c.peer.Cmd.Process.Pid)
}

// An answer may be long.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	c, err := Start(t.Context(), config(t, "3 MiB"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Ask(t.Context(), Request{"display", map[string]any{"format": strings.Repeat("x", 3<<20)}})
	if err != nil || len(raw) < 3<<20 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Close says that the adapter wrote what it was not asked for, also when it left.
func TestSurplus(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"talks at the end": `at fault: the adapter wrote a line that it was not asked for: "goodbye"`,
		"two answers":      "at fault: the adapter wrote a line that it was not asked for: ",
		"":                 "no error",
	} {
		c, err := Start(t.Context(), config(t, fault))
		if err != nil {
			t.Fatal(err)
		}
		ask(t.Context(), t, c, 1)
		if got := describeError(c.Close(), "no error"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", fault, got, want)
		}
		leavesNothing(t, c.peer.Cmd.Process.Pid)
	}
}

// Close may be called more than once, and while a request is under way.
func TestClosedMeanwhile(t *testing.T) {
	t.Parallel()
	c, err := Start(t.Context(), config(t, "no answer"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan string)
	go func() { asked <- ask(ctx, t, c, 1) }()
	cancel()
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := <-asked; got != "timed out: no answer to display" && got != "ended: the adapter was closed" {
		t.Error(got)
	}
	leavesNothing(t, c.peer.Cmd.Process.Pid)
}

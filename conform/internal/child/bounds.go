package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/proctree"
)

// OneLine returns a text with each run of white space as one space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Evidence returns evidence with its texts clipped.
func Evidence(command, expected, actual string) report.Evidence {
	return report.Evidence{Command: Clip(command), Expected: Clip(expected), Actual: Clip(actual)}
}

// A target may be anything: one that prints without end must not take down the machine. These are
// the bounds of what a run keeps and of what its processes use.
const (
	// MaxOutput is the most that one command of a target may print.
	MaxOutput = 1 << 20
	// MaxText bounds a text in evidence.
	MaxText = 8 << 10
	// MaxLog bounds a transcript in a report.
	MaxLog = 256 << 10
	// maxMemory bounds the process of a script, and maxBelow all processes that it starts: the
	// tmux server, the MCP server and others.
	maxMemory    = 64 << 20
	maxBelow     = 512 << 20
	maxProcesses = 500
	// maxFile bounds each file that any of them writes.
	maxFile = 256 << 20
)

// ErrTooMuch means that a target's program printed more than [MaxOutput], and was killed.
var ErrTooMuch = fmt.Errorf("it printed more than %d KiB, and was ended", MaxOutput>>10)

// output is the beginning of what a program has printed, on one of its streams or both.
type output struct {
	stdout, stderr strings.Builder

	mu   sync.Mutex
	left int
	over func() // called when output is dropped
}

// stream is the writer of one of an output's texts.
type stream struct {
	*output
	text *strings.Builder
}

func (s stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(p), s.left)
	s.text.Write(p[:n])
	s.left -= n
	if n < len(p) && s.over != nil {
		s.over()
	}
	return len(p), nil
}

// Run runs a command until it exits, ctx is done, or it has printed more than [MaxOutput].
func Run(ctx context.Context, dir string, env []string, program string, args ...string) (
	stdout, stderr string, state *os.ProcessState, err error,
) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &output{left: MaxOutput, over: func() { cancel(ErrTooMuch) }}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = stream{out, &out.stdout}, stream{out, &out.stderr}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if context.Cause(ctx) == ErrTooMuch {
		err = ErrTooMuch
	}
	return out.stdout.String(), out.stderr.String(), cmd.ProcessState, err
}

// Watch kills what this process has started, from then on, when that or this process itself takes
// too much memory: testscript, package tmux and the MCP client keep what they are sent. It calls
// excess with the reason, and does not return.
func Watch(excess func(string)) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	tick := time.NewTicker(50 * time.Millisecond)
	for n := 0; ; n++ {
		<-tick.C
		metrics.Read(samples)
		used := samples[0].Value.Uint64() - samples[1].Value.Uint64() - samples[2].Value.Uint64()
		processes, memory := 0, 0
		if n%5 == 0 {
			processes, memory = below()
		}
		switch {
		case used > maxMemory:
			excess(fmt.Sprintf("what was printed took more than %d MiB of memory", maxMemory>>20))
		case memory > maxBelow:
			excess(fmt.Sprintf("what the script started took more than %d MiB of memory", maxBelow>>20))
		case processes > maxProcesses:
			excess(fmt.Sprintf("the script started more than %d processes", maxProcesses))
		default:
			continue
		}
		// Those who wait for one of them go on.
		for ; ; time.Sleep(10 * time.Millisecond) {
			proctree.KillBelow()
		}
	}
}

// Clip shortens a long text to its beginning and its end.
func Clip(s string) string { return report.Clip(s, MaxText) }

// adopting is set in a process whose only children are those that this package starts.
var adopting bool

// Adopt makes this process adopt, and kill, what a script's process leaves behind when it is killed
// or crashes. The process must have no children except those that this package starts. It works on
// Linux only.
func Adopt() {
	proctree.Adopt()
	adopting = true
}

// EndAdopted kills what was adopted. All children that this process has started itself must have
// ended.
func EndAdopted() {
	if adopting {
		proctree.EndChildren()
	}
}

// Tail returns the end of a text, on one line.
func Tail(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = "… " + s[len(s)-300:]
	}
	return s
}

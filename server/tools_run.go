package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/tmux"
)

var runCommand = tool[runCommandIn, *runResult]{
	name: "run_command", title: "Run Command", kind: shell, set: setInput, core: true, selfBounded: true,
	desc: "Run a shell command in a pane, wait for it to end, and return its own output (without prompt and echo) and exit status. " +
		"The pane must show the prompt of a " + dialectNames + ". It runs in a subshell: cd, export and exit do not outlive it; to change the shell itself use send_keys. " +
		"After the timeout the command goes on and output is what came so far. Calls on one pane queue. " +
		"suppress_history: not in the shell's history; default: the server's.",
	defaults: func(cfg Config) map[string]string {
		return map[string]string{"suppress_history": strconv.FormatBool(cfg.SuppressHistory)}
	},
	run: func(ctx context.Context, c *call, in runCommandIn) (*runResult, error) {
		switch {
		case strings.TrimSpace(in.Command) == "":
			return nil, argumentFault("command", "must not be blank")
		case strings.IndexByte(in.Command, 0) >= 0:
			return nil, argumentFault("command", "must not have a NUL character")
		}
		limit, err := c.s.budget(in.Timeout)
		if err != nil {
			return nil, err
		}
		pane, release, err := c.runTurn(ctx, in.selection())
		if err != nil {
			return nil, err
		}
		defer release()
		r := &execution{call: c, in: in, pane: pane, limit: limit, start: time.Now()}
		return r.do(ctx)
	},
}

type runCommandIn struct {
	Command string `json:"command"`
	paneSelect
	Timeout         float64 `json:"timeout" default:"30" desc:"seconds"`
	MaxLines        *int    `json:"max_lines,omitempty" min:"1" desc:"keep the last"`
	SuppressHistory *bool   `json:"suppress_history,omitempty"`
	socket
}

type runResult struct {
	PaneID     tmux.PaneID `json:"pane_id"`
	ExitStatus *int        `json:"exit_status"`
	TimedOut   bool        `json:"timed_out"`
	// PaneGone is that the pane's program ended before the command did.
	PaneGone             bool     `json:"pane_gone"`
	ElapsedSeconds       float64  `json:"elapsed_seconds"`
	Output               []string `json:"output"`
	OutputTruncated      bool     `json:"output_truncated"`
	OutputTruncatedLines int      `json:"output_truncated_lines"`
	// LinesMissed is that output may be incomplete.
	LinesMissed      bool    `json:"lines_missed"`
	EffectiveTimeout float64 `json:"effective_timeout"`
}

// runPane is what must be known of a pane to run a command in it.
type runPane struct {
	ID      tmux.PaneID `tmux:"pane_id"`
	Dead    bool        `tmux:"pane_dead"`
	InMode  bool        `tmux:"pane_in_mode"`
	Mode    string      `tmux:"pane_mode"`
	Off     bool        `tmux:"pane_input_off"`
	PID     int         `tmux:"pane_pid"`
	TTY     string      `tmux:"pane_tty"`
	Command string      `tmux:"pane_current_command"`
	Piped   bool        `tmux:"pane_pipe"`
	Width   int         `tmux:"pane_width"`
	X       int         `tmux:"cursor_x"`
	Y       int         `tmux:"cursor_y"`

	screen []string
}

// lookAt reads a pane's state and screen, and refuses one that takes no keys.
func (c *call) lookAt(ctx context.Context, s selection) (runPane, error) {
	s, err := c.resolve(ctx, "run_command", s)
	if err != nil {
		return runPane{}, err
	}
	target, err := c.spec(s)
	if err != nil {
		return runPane{}, err
	}
	var b tmux.Batch
	rows := tmux.Rows[runPane](&b, tmux.DisplayMessage{Target: target})
	screen := b.Add(tmux.CapturePane{Target: target, Print: true})
	if err := b.Do(ctx, c.tmux); err != nil {
		return runPane{}, err
	}
	pane := (*rows)[0]
	pane.screen = strings.Split(string(*screen), "\n")
	return pane, c.takes(ctx, s, taker{pane.ID, pane.Dead, pane.InMode, pane.Mode, pane.Off})
}

// runTurn waits until no other command of this server runs in the pane.
func (c *call) runTurn(ctx context.Context, s selection) (runPane, func(), error) {
	pane, err := c.lookAt(ctx, s)
	if err != nil {
		return pane, nil, err
	}
	release, waited, ok := c.s.turns.take(ctx, c.tmux.SocketPath()+" "+string(pane.ID), c.s.cfg.WaitMax)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case !ok:
		err = faultf(kindTimeout, "other commands ran in pane %s for %v, and this one was not begun", pane.ID, c.s.cfg.WaitMax).
			suggest("call again, or use another pane")
	case waited:
		pane, err = c.lookAt(ctx, selection{pane: pane.ID})
	}
	if err != nil && ok {
		release()
	}
	return pane, release, err
}

// execution is one command that runs in a pane.
type execution struct {
	*call
	in    runCommandIn
	pane  runPane
	shell foreground
	limit time.Duration
	start time.Time

	script   script
	recorder *recorder // nil when the pane's pipe is another's
	typed    time.Time // when the line was
	missed   bool
	result   runResult
}

const (
	// lineWait is how long after a line was typed it may be taken for lost when
	// the shell still shows its prompt and nothing else.
	lineWait = time.Second
	// markWait is how long a mark may come after the last of the output, when the
	// command is known to have ended.
	markWait = 2 * time.Second
)

func (r *execution) do(ctx context.Context) (*runResult, error) {
	if err := r.awaitPrompt(ctx); err != nil {
		return nil, err
	}
	if err := r.freshLine(ctx); err != nil {
		return nil, err
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.script.dir)
	if r.recorder != nil {
		defer r.recorder.close()
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	err := r.wait(ctx)
	// Now, so that a late reading of the command fails.
	os.RemoveAll(r.script.dir)
	lines, dropped := r.output(ctx)
	if err != nil {
		return nil, err
	}
	lines, cut := lastLines(lines, r.in.MaxLines)
	dropped += cut
	lines, cut = lastBytes(lines, maxResult*2/5)
	res := &r.result
	res.PaneID, res.Output = r.pane.ID, append([]string{}, lines...)
	res.OutputTruncated, res.OutputTruncatedLines = cut+dropped > 0, cut+dropped
	res.LinesMissed = r.missed
	res.ElapsedSeconds, res.EffectiveTimeout = seconds(time.Since(r.start)), r.limit.Seconds()
	return res, nil
}

// lastBytes keeps the last lines whose JSON has at most n bytes, but at least
// one, and tells how many it left out. A result of more would be cut by
// mw_limit, which cannot tell how.
func lastBytes(lines []string, n int) (kept []string, cut int) {
	for cut = len(lines); cut > 0; cut-- {
		text, err := marshal(lines[cut-1])
		if n -= len(text) + 1; err != nil || n < 0 && cut < len(lines) {
			break
		}
	}
	return lines[cut:], cut
}

// typing is the commands that type bytes into exactly this pane, by way of a
// buffer: keys would go to all panes of a window that synchronizes them.
func (r *execution) typing(ctx context.Context, target tmux.Target, text string) ([]tmux.Command, error) {
	buffer := r.tmux.Buffer(newBufferName("run"))
	paste, err := buffer.Pasting(ctx, target, tmux.PasteOptions{})
	paste.Delete = true
	return []tmux.Command{tmux.SetBuffer{Buffer: buffer.Name, Data: &text}, paste}, err
}

// plainPath is a path that needs no quotes in any shell.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9/._-]*$`)

// prepare writes the files.
func (r *execution) prepare() error {
	base := os.TempDir()
	if !plainPath.MatchString(base) {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "tmux-mcp-")
	if err != nil {
		return fmt.Errorf("make a directory for the command: %w", err)
	}
	var nonce [8]byte
	rand.Read(nonce[:])
	r.script = script{dir: dir, token: hex.EncodeToString(nonce[:]), visible: r.pane.Piped}
	record := r.in.SuppressHistory != nil && !*r.in.SuppressHistory || r.in.SuppressHistory == nil && !r.s.cfg.SuppressHistory
	command := strings.ReplaceAll(r.in.Command, "\r\n", "\n")
	if err = r.script.write(r.shell.shell, r.shell.path, command, record); err != nil {
		err = fmt.Errorf("write the command: %w", err)
	} else if reach := r.shell.reaches(r.script.path("run")); reach != nil {
		err = faultf(kindRefused, "%s in pane %s %v, so it cannot read the command", r.shell.name, r.pane.ID, reach).
			suggest("send_keys types into it, wait_for_text waits")
	} else if !r.pane.Piped {
		r.recorder, err = newRecorder(r.script, r.pane.Width)
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return err
}

// begin types the line and, in the same round trip, begins the recording.
func (r *execution) begin(ctx context.Context) error {
	r.typed = time.Now()
	_, err := r.typeInto(ctx, "run_command", selection{pane: r.pane.ID}, func(target tmux.Target) ([]tmux.Command, error) {
		cmds, err := r.typing(ctx, target, r.script.line(r.shell.shell))
		if r.recorder != nil && r.script.tries == 0 {
			pipe := tmux.PipePane{Target: target, Output: true, Command: r.script.feed()}
			cmds = append([]tmux.Command{pipe}, cmds...)
		}
		return cmds, err
	})
	var refused *fault
	if err != nil && !errors.As(err, &refused) {
		r.unpipe(ctx) // it may have begun
	}
	return err
}

// retry types the line once more when the shell has dropped it: some empty
// their input when they are about to show a prompt. The old line must not work
// any more, should it come after all.
func (r *execution) retry(ctx context.Context) error {
	r.typed = time.Now()
	shell, err := foregroundOf(r.pane)
	if err != nil || shell.pid != r.shell.pid || !shell.prompt || r.lookAgain(ctx) != nil {
		return nil
	}
	if left, right := r.pane.cursorLine(); !freshPrompt(shell.shell, left, right) {
		return nil
	}
	old := r.script.runPath()
	r.script.tries++
	if err := os.Rename(old, r.script.runPath()); err != nil {
		return err
	}
	if err := sleep(ctx, 50*time.Millisecond); err != nil || r.begun() {
		return err
	}
	return r.begin(ctx)
}

// begun tells whether the first mark has come.
func (r *execution) begun() bool {
	if r.recorder != nil {
		return r.recorder.begun.Load()
	}
	return slices.Contains(r.pane.screen, strings.TrimSpace(r.script.begin()))
}

// unpipe ends the recording, if it is still ours.
func (r *execution) unpipe(ctx context.Context) {
	if r.recorder == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	if r.tmux.Pane(r.pane.ID).ClosePipe(ctx) == nil {
		return
	}
	// The pane is gone, or its program is: then tmux keeps the pipe.
	if r.recorder.close(); r.recorder.feeder > 1 {
		_ = syscall.Kill(r.recorder.feeder, syscall.SIGTERM)
	}
}

// wait waits for the end of the command, and keeps what is known of it in
// result. The exit status comes with the second mark, and also in a file, for
// when another program takes the pane's pipe.
func (r *execution) wait(ctx context.Context) error {
	var ended <-chan int
	var over <-chan struct{}
	pause := 100 * time.Millisecond
	if r.recorder != nil {
		ended, over = r.recorder.ended, r.recorder.over
		defer func() {
			if over != nil {
				r.unpipe(ctx)
			}
		}()
	} else {
		pause = 5 * time.Millisecond
	}
	limit := time.NewTimer(r.limit - time.Since(r.start))
	defer limit.Stop()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	told, known, came := time.Now(), time.Time{}, int64(-1)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			r.result.TimedOut = true
			return nil
		case status := <-ended:
			r.result.ExitStatus = &status
			return nil
		case <-over:
			select {
			case status := <-ended:
				r.result.ExitStatus = &status
				return nil
			default:
			}
			// Not the mark was the end of it: the pane is gone, or its pipe is
			// another's now.
			over, ended = nil, nil
			if r.gone(ctx) {
				return nil
			}
			r.missed = true
			tick.Reset(5 * time.Millisecond)
		case <-tick.C:
			if status, ok := r.status(); ok {
				if r.recorder != nil && ended != nil && came != r.recorder.came.Load() {
					known, came = time.Now(), r.recorder.came.Load()
				}
				if ended == nil || time.Since(known) > markWait {
					r.result.ExitStatus = &status
					r.missed = r.recorder != nil
					return nil
				}
			} else if syscall.Kill(r.shell.pid, 0) == syscall.ESRCH {
				if r.gone(ctx) {
					return nil
				}
				return faultf(kindRefused, "the shell in pane %s ended before the command did", r.pane.ID).
					suggest("capture_pane shows what it printed")
			}
			if !r.begun() && time.Since(r.typed) > lineWait {
				if err := r.retry(ctx); err != nil {
					return err
				}
			}
			if time.Since(told) >= time.Second {
				told = time.Now()
				elapsed := time.Since(r.start)
				r.progress(ctx, elapsed.Seconds(), r.limit.Seconds(),
					fmt.Sprintf("pane %s: %.0f s elapsed, %.0f s left", r.pane.ID, elapsed.Seconds(), (r.limit-elapsed).Seconds()))
			}
		}
	}
}

// gone tells whether the pane's program has ended, and notes it.
func (r *execution) gone(ctx context.Context) bool {
	rows, err := tmux.List[taker](ctx, r.tmux, tmux.DisplayMessage{Target: r.pane.ID})
	r.result.PaneGone = errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) ||
		err == nil && (rows[0].ID == "" || rows[0].Dead)
	return r.result.PaneGone
}

// status is the exit status that run has left.
func (r *execution) status() (int, bool) {
	text, err := os.ReadFile(r.script.path("status"))
	if err != nil || len(text) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(string(text))
	return n, err == nil
}

// output is the command's output, and how many lines of it were too many to be
// kept.
func (r *execution) output(ctx context.Context) (lines []string, dropped int) {
	if r.recorder != nil {
		r.recorder.close()
		lines, dropped = r.recorder.transcript.lines()
		kept := lines[:0]
		for _, l := range lines {
			if !r.script.ours(l) {
				kept = append(kept, l)
			}
		}
		return kept, dropped
	}
	if r.result.PaneGone || ctx.Err() != nil {
		r.missed = true
		return nil, 0
	}
	// Read off the screen and the history. The shell is ahead of tmux.
	for deadline := time.Now().Add(markWait); ; {
		out, err := r.tmux.Do(ctx, tmux.CapturePane{Target: r.pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
		if err != nil {
			r.missed = true
			return nil, 0
		}
		lines, begun, ended := r.script.between(screenLines(out[0]))
		if begun && (ended || r.result.TimedOut) || time.Now().After(deadline) || sleep(ctx, 5*time.Millisecond) != nil {
			r.missed = !begun || !ended && !r.result.TimedOut
			return lines, 0
		}
	}
}

// between are the lines between the visible marks; without the first mark those
// from the top on, without the second those to the bottom.
func (s script) between(screen []string) (lines []string, begun, ended bool) {
	begin := strings.TrimSpace(s.begin())
	end := strings.TrimSpace(s.end())
	from, to := 0, len(screen)
	for i, l := range screen {
		if l == begin {
			from, begun = i+1, true
		} else if strings.HasPrefix(l, end) {
			to, ended = i, true
		}
	}
	lines = screen[min(from, to):to]
	// The second mark begins with a newline, which is an empty line where the
	// output ended with one.
	if n := len(lines); ended && n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines, begun, ended
}

// Package jobs runs commands in panes, and finds them again.
package jobs

import (
	"context"
	"sync"
	"time"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/runner"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
)

// Runner runs commands in panes, and finds them again. It is safe for concurrent use.
type Runner struct {
	Screens *screen.Reader
	// Record says that commands are in the history of the shell unless a call says otherwise.
	Record bool
	// MarkWait is the constant of this name, except in tests.
	MarkWait time.Duration

	files runner.Files
	mu    sync.Mutex
	swept time.Time // when jobs were last swept
}

// New returns a runner.
func New(screens *screen.Reader, record bool) *Runner {
	return &Runner{Screens: screens, Record: record, MarkWait: markWait}
}

// Close removes the files of a runner that is no longer used.
func (r *Runner) Close() { r.files.Close() }

// Command is a command to run.
type Command struct {
	Text   string // a command line, or a script
	Limit  time.Duration
	Detach bool // do not wait for its end
	Record bool // in the history of the shell
	Output Output
}

// Run runs a command in a pane, and waits for its end or its limit.
func (r *Runner) Run(ctx context.Context, t *typing.Typist, on target.Object, cmd Command) (*Result, error) {
	out, err := cmd.Output.sink(ctx)
	if err != nil {
		return nil, err
	}
	if process, err := caller.ProcessOf(ctx, t.Tmux); err != nil {
		return nil, err
	} else if !process.Here {
		return nil, reply.Faultf(reply.KindRefused, "what runs in the pane cannot be seen from here: this tmux server's processes have other numbers, as in another container").
			Suggest("send_keys types, wait_for_text waits; or run tmux-mcp where tmux runs")
	}
	pane, release, err := r.turn(ctx, t, on)
	if err != nil {
		return nil, err
	}
	defer release()
	start := time.Now()
	x := &execution{Shell: &typing.Shell{Typist: t, Pane: pane, Until: start.Add(cmd.Limit)}, command: cmd}
	x.recording = recording{
		Source: t.Source, jobs: r, pane: &x.Pane, shell: &x.Foreground, out: out, output: cmd.Output, detach: cmd.Detach, start: start, limit: cmd.Limit,
	}
	return x.run(ctx)
}

// turn waits until no other command runs in the pane, from this server or another server
// of this user.
func (r *Runner) turn(ctx context.Context, t *typing.Typist, on target.Object) (typing.Pane, func(), error) {
	pane, err := typing.LookAt(ctx, t.Tmux, on)
	if err != nil {
		return pane, nil, err
	}
	at := placeOf(t.Tmux, pane)
	at.Pane = string(pane.ID)
	most := r.Screens.WaitMax
	resume := t.Pause() // other calls need not wait for this one
	release, waited, ok := r.files.Take(ctx, at, most)
	late := resume(ctx)
	switch {
	case late != nil:
		err = late
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case !ok:
		err = reply.Faultf(reply.KindTimeout, "other commands ran in pane %s for %v, and this one was not begun", pane.ID, most).
			Suggest("call again, or use another pane")
	case waited:
		pane, err = typing.LookAt(ctx, t.Tmux, target.AtPane(pane.ID))
	}
	if err != nil && ok {
		release()
	}
	return pane, release, err
}

// Sweep occasionally removes the remains of jobs.
func (r *Runner) Sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.swept) > time.Minute {
		r.swept = time.Now()
		go runner.Sweep()
	}
}

// Package jobs runs commands in panes, finds them again, and shapes what they printed.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

// Runner runs commands in panes, and finds them again. It is safe for concurrent use.
type Runner struct {
	Screens *screen.Reader
	// Record says that commands are in the history of the shell unless a call says otherwise.
	Record bool
	Shells shell.Runner
}

// New returns a runner.
func New(screens *screen.Reader, record bool) *Runner {
	return &Runner{Screens: screens, Record: record}
}

// Command is a command to run.
type Command struct {
	Text   string // a command line, or a script
	Limit  time.Duration
	Detach bool   // do not wait for its end
	Dir    string // in which it runs
	Keep   bool   // what it changes in the shell
	Remote shell.Remote
	Record bool // in the history of the shell
	Output Output
}

// Run runs a command in a pane, and waits for its end or its limit.
func (r *Runner) Run(ctx context.Context, t *typing.Typist, on target.Object, cmd Command) (*Result, error) {
	out := cmd.Output.sink(ctx)
	sh, err := r.turn(ctx, t, on)
	if err != nil {
		return nil, typing.FaultOf(err)
	}
	defer sh.Close()
	start := time.Now()
	a := answer{Source: t.Source, out: out, output: cmd.Output, text: cmd.Text, keep: cmd.Keep, detach: cmd.Detach, limit: cmd.Limit}
	o := shell.Options{History: cmd.Record, Dir: cmd.Dir, Lasting: cmd.Keep, Remote: cmd.Remote, Limit: cmd.Limit, Lines: out.Line, Until: out.until(), Type: t.TypeCommands}
	if cmd.Detach {
		var job *shell.Job
		err := typing.Alone(ctx, t, sh.Pane().ID, cmd.Limit, func() (err error) {
			job, err = sh.Start(ctx, cmd.Text, o)
			return err
		})
		if err != nil {
			return nil, typing.FaultOf(err)
		}
		res, err := job.Result(ctx, shell.Options{Lines: out.Line})
		if err != nil {
			return nil, typing.FaultOf(err)
		}
		r.record(t, res, out)
		return a.of(ctx, res), nil
	}
	o.Keep = func(res *shell.Result) bool { return !a.show(ctx, res) || stdio.Left(ctx) }
	var res *shell.Result
	err = typing.Alone(ctx, t, sh.Pane().ID, cmd.Limit, func() (err error) {
		stop := progress(ctx, sh.Pane().ID, start, cmd.Limit+time.Since(start).Round(time.Second))
		defer stop()
		res, err = sh.Run(ctx, cmd.Text, o)
		return err
	})
	var failed *shell.Error
	switch {
	case res == nil, errors.As(err, &failed):
		return nil, typing.FaultOf(err)
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return nil, err
	}
	r.record(t, res, out)
	return a.of(ctx, res), nil
}

// record records what a call reports of what it has typed, for the waits that follow.
func (r *Runner) record(t *typing.Typist, res *shell.Result, out *sink) {
	at, typed := t.Line(res.Pane)
	switch {
	case !typed:
	case res.State == shell.Ended || res.State == shell.Lost:
		r.Screens.Returned(t.Tmux, at, out.lines, out.tail)
	case res.Job != nil:
		r.Screens.Runs(t.Tmux, at, res.Job.ID())
		if res.Reached {
			r.Screens.Shown(t.Tmux, at, out.lines, out.tail, out.await.line)
		}
	}
}

// turn waits until no other command runs in the pane, from this server or another server of
// this user. Meanwhile other calls go on.
func (r *Runner) turn(ctx context.Context, t *typing.Typist, on target.Object) (*shell.Shell, error) {
	sh, err := r.Shells.At(ctx, t.Tmux, on.Target)
	if err != nil {
		return nil, err
	}
	most := r.Screens.WaitMax
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	resume := t.Pause()
	err = sh.Lock(limited)
	late := resume(ctx)
	switch {
	case late != nil:
		err = late
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		return nil, reply.Faultf(reply.KindTimeout, "other commands ran in pane %s for %v, and this one was not begun", sh.Pane().ID, most).
			Suggest("call again, or use another pane")
	}
	if err != nil {
		sh.Close()
		return nil, err
	}
	return sh, nil
}

// progress reports the wait to the client once a second, until stop is called.
func progress(ctx context.Context, pane tmux.PaneID, start time.Time, limit time.Duration) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				elapsed := time.Since(start)
				stdio.Progress(ctx, elapsed.Seconds(), limit.Seconds(),
					fmt.Sprintf("pane %s: %.0f s elapsed, %.0f s left", pane, elapsed.Seconds(), (limit-elapsed).Seconds()))
			}
		}
	}()
	return func() { close(over); <-done }
}

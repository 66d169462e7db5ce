package server

import (
	"context"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

// Before a command is typed, the shell must be at an empty prompt. Whether it is at its
// prompt is known (runner.ForegroundOf); whether something has been typed there can only be
// guessed from the screen.

const (
	// startUp is the longest that a program may have been running to be taken for part of a
	// shell's start-up or prompt, and so be waited for. What may be about to end is waited for
	// as long.
	startUp = 2 * time.Second
	// promptWait is how long a shell may take to show its prompt.
	promptWait = 5 * time.Second
	// sizeWait is how long a terminal may take to get the size of its pane: tmux waits a
	// quarter of a second, in case another size follows.
	sizeWait = time.Second
)

// awaitPrompt waits for the prompt of a shell if one may be about to appear.
func (r *execution) awaitPrompt(ctx context.Context) error {
	ready, err := r.awaitShell(ctx, func(waited time.Duration) (bool, error) {
		return time.Since(r.start) > r.limit || r.shell.IsShell() && waited > r.s.promptWait ||
			!r.shell.IsShell() && max(r.shell.Age, waited) > startUp && waited > 20*time.Millisecond, nil
	})
	if ready || err != nil {
		return err
	}
	if r.shell.IsShell() || r.shell.NamesShell() {
		return r.busy()
	}
	return reply.Faultf(reply.KindRefused, "pane %s runs %s, and run_command types only at the prompt of a shell: %s", r.pane.ID, r.program(), runner.Shells).
		Suggest("send_keys types into the program, wait_for_text waits for it, and another pane can run the command")
}

// awaitShell waits until a shell in the pane is at its prompt, and reports whether it is.
// Meanwhile it calls enough to find out whether it has waited long enough.
func (r *execution) awaitShell(ctx context.Context, enough func(waited time.Duration) (bool, error)) (ready bool, err error) {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		if r.shell, err = r.pane.foreground(); err != nil {
			// Either the pane has just ended, or its processes cannot be seen from here.
			if err := r.lookAgain(ctx); err != nil {
				return false, err
			}
			return false, reply.Faultf(reply.KindRefused, "cannot see the processes of pane %s from here: %v", r.pane.ID, err).
				Suggest("send_keys types into it")
		}
		if r.shell.IsShell() && r.shell.Prompt {
			if d > time.Millisecond {
				err = r.lookAgain(ctx)
			}
			return err == nil, err
		}
		if stop, err := enough(time.Since(begun)); stop || err != nil {
			return false, err
		}
		if err := pause.For(ctx, d); err != nil {
			return false, err
		}
	}
	return false, nil
}

// awaitSize waits until the terminal has the size that its pane has just got. Otherwise the
// command would see the old size, and the new one would look like a resize while it runs.
func (r *execution) awaitSize(ctx context.Context) error {
	for end := time.Now().Add(sizeWait); r.place().Resized(r.pane.TTY) && time.Now().Before(end); {
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		if err := r.lookAgain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lookAgain reads the pane's state again.
func (r *execution) lookAgain(ctx context.Context) error {
	pane, err := r.lookAt(ctx, target.AtPane(r.pane.ID))
	if err == nil {
		r.pane = pane
	}
	return err
}

// freshLine makes the shell drop a line that someone has begun. What is typed before the
// command deletes the text to the left of the cursor, which is enough if there is nothing
// else. In case of doubt the line is interrupted, which every shell accepts in every state;
// the user sees it and can type it again.
func (r *execution) freshLine(ctx context.Context) error {
	if fresh, err := r.becomesFresh(ctx, 30*time.Millisecond); fresh || err != nil {
		return err
	}
	if !r.atPrompt() {
		return r.busy()
	}
	return r.interruptLine(ctx)
}

// program names the program in the foreground.
func (r *execution) program() string { return reply.Named("", r.shell.Name, "") }

func (r *execution) busy() error {
	return reply.Faultf(reply.KindRefused, "%s in pane %s is busy: it shows no prompt", r.program(), r.pane.ID).
		Suggest("wait_for_text waits for the prompt; send_keys types anyway")
}

// interruptLine makes a shell that is at its prompt drop the line and show a new prompt. A
// shell that was interrupted draws its prompt in another row: while the cursor is in the row
// interrupted, the shell has not handled the interrupt yet, and would drop anything typed
// with the line. It is interrupted again if it then waits in the same row: the first may
// only have ended a search, and fish forgets one that comes while it colors the line.
func (r *execution) interruptLine(ctx context.Context) error {
	shown, taken := true, func() bool { return r.pane.row() != r.typedRow }
	probe := r.shell.Probe()
	if probe != "" {
		var err error
		if shown, err = r.showProbe(ctx, probe); err != nil {
			return err
		}
		before := r.pane
		taken = func() bool { return r.pane.row() != before.row() || r.pane.X != before.X }
	}
	for begun, again, done := time.Now(), true, false; !done; {
		if again {
			if err := r.typeBytes(ctx, string(rune(r.shell.Interrupt))); err != nil {
				return err
			}
		}
		late := !shown || time.Since(begun) > r.s.promptWait
		if late && probe != "" {
			return r.busy()
		}
		var err error
		if done, err = r.awaitLook(ctx, 100*time.Millisecond, taken); err != nil {
			return err
		}
		again, done = r.idle(), done || late
	}
	if probe == "" {
		if _, err := r.becomesFresh(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	return r.awaitPrompt(ctx)
}

// showProbe types the probe of a shell that may stay in its row, and reports whether the
// shell has drawn it and waits for more. Then the cursor moves when the shell takes an
// interrupt.
func (r *execution) showProbe(ctx context.Context, probe string) (bool, error) {
	if err := r.typeBytes(ctx, probe); err != nil {
		return false, err
	}
	return r.awaitLook(ctx, r.s.promptWait, func() bool {
		return strings.HasSuffix(r.pane.typedLine(0), probe[len(probe)-1:]) && r.idle()
	})
}

// typeBytes types something into exactly this pane.
func (r *execution) typeBytes(ctx context.Context, text string) error {
	_, err := r.typeInto(ctx, target.AtPane(r.pane.ID), screen.Echo{}, func(target tmux.Target) ([]tmux.Command, error) {
		return r.typing(ctx, target, text)
	})
	return err
}

// awaitLook looks at the pane until it is as expected, and reports whether it is in time.
func (r *execution) awaitLook(ctx context.Context, limit time.Duration, expected func() bool) (bool, error) {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		if time.Since(begun) >= limit {
			break
		}
		if err := pause.For(ctx, d); err != nil {
			return false, err
		}
		if err := r.lookAgain(ctx); err != nil {
			return false, err
		}
		if expected() {
			return true, nil
		}
	}
	return false, nil
}

// becomesFresh reports whether the prompt is fresh, now or within a moment. A shell that is
// ready may not have drawn its prompt yet; one that is starting takes longer, and fish does
// not survive an interrupt then.
func (r *execution) becomesFresh(ctx context.Context, moment time.Duration) (bool, error) {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		left, right := r.pane.cursorLine()
		if r.fresh(right) && r.atPrompt() {
			return true, nil
		}
		limit := moment
		switch {
		case !r.atPrompt(): // it may not have been drawn yet
			limit = r.s.promptWait
		case strings.TrimSpace(left+right) == "" && r.shell.Age < startUp:
			limit = startUp
		}
		if time.Since(begun) > limit {
			return false, nil
		}
		if err := pause.For(ctx, d); err != nil {
			return false, err
		}
		if err := r.lookAgain(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// row returns the number of the cursor's row, from the first of the history.
func (p runPane) row() int { return p.History + p.Y }

// cursorLine returns the text of the cursor's row, before and after the cursor.
func (p runPane) cursorLine() (left, right string) {
	if p.Y >= len(p.screen) {
		return "", ""
	}
	return runner.SplitAt(p.screen[p.Y], p.X)
}

// typedLine returns the text before the cursor, with the rows above that continue in it:
// those that are full, or as good as full, but for so many cells. tmux does not say whether
// a row that ends in a blank is.
func (p runPane) typedLine(but int) string {
	line, _ := p.typedRows(but, p.Height)
	return line
}

// typedRows returns the last rows of that, at most so many, and whether these are all.
func (p runPane) typedRows(but, most int) (line string, all bool) {
	line, _ = p.cursorLine()
	for y := min(p.Y, len(p.screen)) - 1; y >= 0 && len([]rune(p.screen[y])) >= p.Width-but; y-- {
		if most--; most == 0 {
			return line, false
		}
		line = p.screen[y] + strings.Repeat(" ", max(p.Width-len([]rune(p.screen[y])), 0)) + line
	}
	return line, true
}

// fresh reports whether the text before the cursor looks like a prompt with nothing typed,
// from whichever row it begins in.
func (r *execution) fresh(right string) bool {
	for rows := 1; ; rows++ {
		line, all := r.pane.typedRows(1, rows)
		if !r.shell.Fresh(line, right) {
			return false
		}
		if all {
			return true
		}
	}
}

// atPrompt reports whether the text before the cursor may be a prompt and something typed.
func (r *execution) atPrompt() bool {
	return r.shell.AtPrompt(r.pane.typedLine(0)) && r.shell.AtPrompt(r.pane.typedLine(1))
}

// foreground returns the program that reads what is typed into the pane.
func (p runPane) foreground() (runner.Foreground, error) {
	return runner.ForegroundOf(p.PID, p.TTY, p.Command)
}

// lastSeen returns the end of what the screen shows: lines of text down to the cursor's.
func (p runPane) lastSeen() []string {
	const most, longest = 4, 200
	var seen []string
	for y := min(p.Y, len(p.screen)-1); y >= 0 && len(seen) < most; y-- {
		l := []rune(strings.TrimRight(p.screen[y], " "))
		if len(l) == 0 {
			continue
		}
		if len(l) > longest {
			l = append(l[:longest], '…')
		}
		seen = append([]string{string(l)}, seen...)
	}
	return seen
}

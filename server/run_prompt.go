package server

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode"

	"tmuxmcp/tmux"
)

// Before a command is typed, the shell must be at its prompt with nothing on it.
// Whether it is at its prompt the machine tells (foreground.go); whether
// something is on the line can only be guessed from the screen.

const (
	// startUp is how long a program may have run that is taken for a part of a
	// shell's start or prompt, and so is waited for.
	startUp = 2 * time.Second
	// promptWait is how long a shell may take to show its prompt.
	promptWait = 5 * time.Second
)

// awaitPrompt waits for the prompt of a shell, if one may be about to come.
func (r *execution) awaitPrompt(ctx context.Context) (err error) {
	begun := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if r.shell, err = foregroundOf(r.pane); err != nil {
			// Either the pane has ended in this moment or it is out of sight.
			if err := r.lookAgain(ctx); err != nil {
				return err
			}
			return faultf(kindRefused, "the processes of pane %s are not to be seen from here: %v", r.pane.ID, err).
				suggest("send_keys types into it")
		}
		waited := time.Since(begun)
		if r.shell.shell != nil && r.shell.prompt {
			if pause > time.Millisecond {
				return r.lookAgain(ctx)
			}
			return nil
		}
		if time.Since(r.start) > r.limit || r.shell.shell != nil && waited > promptWait ||
			r.shell.shell == nil && r.shell.age > startUp && waited > 20*time.Millisecond {
			break
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
	if r.shell.shell != nil {
		return faultf(kindRefused, "%s in pane %s is busy: it shows no prompt", r.shell.name, r.pane.ID).
			suggest("wait_for_text waits for the prompt; send_keys types anyway")
	}
	return faultf(kindRefused, "pane %s runs %s, and run_command types only at the prompt of a shell: %s", r.pane.ID, r.shell.name, dialectNames).
		suggest("send_keys types into the program, wait_for_text waits for it, and another pane can run the command")
}

// lookAgain reads the pane's state anew.
func (r *execution) lookAgain(ctx context.Context) error {
	pane, err := r.lookAt(ctx, selection{pane: r.pane.ID})
	if err == nil {
		r.pane = pane
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// freshLine makes the shell drop a line that someone has begun. What is typed
// before the command deletes a line to the left of the cursor, and that is all
// where there is nothing else. In doubt the line is interrupted, which every
// shell takes in every state; the person sees it and can type it again.
func (r *execution) freshLine(ctx context.Context) error {
	if fresh, err := r.becomesFresh(ctx, 30*time.Millisecond); fresh || err != nil {
		return err
	}
	_, err := r.typeInto(ctx, "run_command", selection{pane: r.pane.ID}, func(target tmux.Target) ([]tmux.Command, error) {
		return r.typing(ctx, target, interrupt)
	})
	if err != nil {
		return err
	}
	if _, err := r.becomesFresh(ctx, 300*time.Millisecond); err != nil {
		return err
	}
	return r.awaitPrompt(ctx)
}

// becomesFresh tells whether the prompt is fresh, or is so in a moment. A shell
// that is ready may not have drawn its prompt; one that starts takes longer, and
// fish does not get over an interrupt then.
func (r *execution) becomesFresh(ctx context.Context, moment time.Duration) (bool, error) {
	for begun := time.Now(); ; {
		left, right := r.pane.cursorLine()
		if freshPrompt(r.shell.shell, left, right) {
			return true, nil
		}
		limit := moment
		if strings.TrimSpace(left+right) == "" && r.shell.age < startUp {
			limit = startUp
		}
		if time.Since(begun) > limit {
			return false, nil
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return false, err
		}
		if err := r.lookAgain(ctx); err != nil {
			return false, err
		}
	}
}

// cursorLine is the text on the line of the cursor, before it and after it.
func (p runPane) cursorLine() (left, right string) {
	if p.Y >= len(p.screen) {
		return "", ""
	}
	row := line{mixed: true}
	row.replace(0, 0, []rune(p.screen[p.Y]))
	at, _ := row.index(p.X)
	return string(row.text[:at]), string(row.text[at:])
}

// continuation is a prompt for the rest of an unfinished command.
var continuation = regexp.MustCompile(`^[a-z -]*> ?$`)

// freshPrompt tells whether the text left and right of the cursor looks like a
// prompt with nothing typed, or nothing that deleting to the left would not
// delete: there is some text that does not end in a word and is no continuation,
// and nothing close to the right of it. The later lines of a command of several,
// which fish and zsh edit as one, have no prompt but may be indented.
func freshPrompt(d *dialect, left, right string) bool {
	text := []rune(strings.TrimRight(left, " "))
	switch {
	case len(text) == 0,
		continuation.MatchString(left),
		d.edits && text[0] == ' ',
		strings.TrimSpace(right) != "" && !strings.HasPrefix(right, "  "):
		return false
	}
	last := text[len(text)-1]
	return last == 'λ' || !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(`'"\`, last)
}

package tmuxtest

import (
	"fmt"
	"strings"
	"time"
)

// WaitFor waits until the screen shows all texts at the same time; it returns at once if it
// does. A text may span rows, with newlines between them. Blanks at the end of a row do not
// count, on the screen or in a text, and a text must not be entirely blank. A text that the
// terminal has wrapped, or that has scrolled off, does not match.
func (p *Program) WaitFor(texts ...string) {
	p.t.Helper()
	if len(texts) == 0 {
		p.t.Fatalf("WaitFor without a text")
	}
	for _, text := range texts {
		if strings.Trim(text, " \n") == "" {
			p.t.Fatalf("WaitFor with a blank text, %q", text)
		}
	}
	var missing []string
	s, why := p.await(func(s *screen) bool {
		missing = nil
		for _, text := range texts {
			if !s.shows(text) {
				missing = append(missing, fmt.Sprintf("%q", text))
			}
		}
		return len(missing) == 0
	})
	if why != "" {
		p.fail(s, "%s, and the screen does not show %s", why, strings.Join(missing, ", "))
	}
}

// WaitUntil waits until cond returns true for what [Program.Screen] returns. what describes
// the condition for the message of a failure, as in "no error on the screen".
func (p *Program) WaitUntil(what string, cond func(screen string) bool) {
	p.t.Helper()
	if cond == nil {
		p.t.Fatalf("WaitUntil without a condition: %s", what)
	}
	if s, why := p.await(func(s *screen) bool { return cond(s.text()) }); why != "" {
		p.fail(s, "%s: %s", why, what)
	}
}

// WaitExit waits until the program has exited, and returns its exit status, from 0 to 255; if
// a signal killed it, that is 128 plus the number of the signal, as in a shell. The screen
// then shows everything that the program has printed.
func (p *Program) WaitExit() int {
	p.t.Helper()
	s, why := p.await(func(s *screen) bool { return s.ended })
	if why != "" {
		p.fail(s, "%s, and the program still runs", why)
	}
	return s.status
}

// await looks at the screen until done returns true. Otherwise it returns why it has
// stopped, and the last screen, which is complete if the program has ended.
func (p *Program) await(done func(*screen) bool) (s *screen, why string) {
	p.t.Helper()
	limit := p.timeout
	if d, ok := p.t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, ok := d.Deadline(); ok {
			limit = min(limit, max(time.Until(at)*9/10, time.Millisecond))
		}
	}
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 25*time.Millisecond) {
		late := time.Now().After(deadline) // there is a look after it
		switch s = p.now(); {
		case done(s):
			return s, ""
		case s.ended:
			return s, fmt.Sprintf("the program has ended with status %d", s.status)
		case late:
			return s, fmt.Sprintf("%v have passed", limit.Round(time.Millisecond))
		}
		time.Sleep(pause)
	}
}

// running ends the test if the program has ended.
func (p *Program) running() *screen {
	p.t.Helper()
	s := p.now()
	if s.ended {
		p.fail(s, "the program has ended with status %d", s.status)
	}
	return s
}

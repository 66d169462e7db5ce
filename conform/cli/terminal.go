package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/terminal"
)

// This file has the manners on terminals: colors and widths as package terminal says; progress
// on standard error, on a terminal on one line that is gone in the end, elsewhere a line a
// minute; letters beyond ASCII only where the locale is UTF-8.
// Errors are one line, lower case, with no full stop.

// styleOf returns the style for text that people read on w.
func styleOf(w io.Writer) report.Style {
	s := report.Style{Unicode: utf8Locale(), Color: terminal.Color(w)}
	if width := terminal.Width(w); width > 0 {
		s.Width = max(40, min(width, 120))
	}
	return s
}

// utf8Locale reports whether the locale for text is UTF-8; with none set, it is
// taken to be, as in a container.
func utf8Locale() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"), "utf-8"))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// progress shows on standard error how far a run has got: how many scripts have
// finished, how many failed, the time elapsed, and which scripts are running, the
// longest-running first.
type progress struct {
	w       io.Writer
	live    bool // on a terminal
	verbose bool
	width   int
	now     func() time.Time

	mu      sync.Mutex
	start   time.Time
	last    conform.Event
	failed  int
	running []runningScript
	shown   bool
	done    chan struct{}
}

type runningScript struct {
	name  string
	since time.Time
}

// startProgress shows the progress of a run until [progress.end].
func startProgress(w io.Writer, verbose bool) *progress {
	p := newProgress(w, verbose)
	every := time.Second
	if !p.live {
		every = time.Minute
	}
	go p.tick(time.Tick(every))
	return p
}

func newProgress(w io.Writer, verbose bool) *progress {
	width := terminal.Width(w)
	return &progress{
		w: w, verbose: verbose, live: width > 0 && os.Getenv("TERM") != "dumb", width: cmp.Or(width, 80),
		now: time.Now, start: time.Now(), done: make(chan struct{}),
	}
}

// tick updates the elapsed time while nothing else happens; where there is no terminal, it prints
// the progress.
func (p *progress) tick(times <-chan time.Time) {
	for {
		select {
		case <-times:
			p.mu.Lock()
			p.show()
			if !p.live && p.last.Total > 0 {
				fmt.Fprintf(p.w, "mcp-conform: %s\n", p.line())
			}
			p.mu.Unlock()
		case <-p.done:
			return
		}
	}
}

func (p *progress) event(e conform.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = e
	name := fmt.Sprintf("%d/%s/%s", e.Cell.Gap, e.Cell.Layer, e.Cell.Tmux)
	if !e.Done {
		p.running = append(p.running, runningScript{name, p.now()})
	} else {
		p.running = slices.DeleteFunc(p.running, func(r runningScript) bool { return r.name == name })
		if e.Cell.Status.Bad() {
			p.failed++
		}
		if p.verbose {
			p.clear()
			p.transcript(e.Cell)
		}
	}
	p.show()
}

// show replaces the line; p.mu is held.
func (p *progress) show() {
	if !p.live || p.last.Total == 0 {
		return
	}
	p.clear()
	line := p.line()
	if r := []rune(line); len(r) >= p.width {
		line = string(r[:max(0, p.width-1)])
	}
	fmt.Fprint(p.w, line)
	p.shown = true
}

func (p *progress) line() string {
	age := func(t time.Time) string { return fmt.Sprintf("%d s", int(p.now().Sub(t).Seconds())) }
	line := fmt.Sprintf("%d of %d, %d left, %s", p.last.Ended, p.last.Total, p.last.Total-p.last.Ended, age(p.start))
	if p.failed > 0 {
		line += fmt.Sprintf(", %d failed", p.failed)
	}
	sep := "; running "
	for _, r := range p.running {
		line += sep + r.name
		if p.now().Sub(r.since) >= time.Second {
			line += " " + age(r.since)
		}
		sep = ", "
	}
	return line
}

// end removes the progress line for good.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.done)
	p.clear()
	p.last = conform.Event{}
}

// clear removes the progress line; p.mu is held.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) transcript(c report.Cell) {
	fmt.Fprintf(p.w, "== gap %d, layer %s, tmux %s: %s", c.Gap, c.Layer, c.Tmux, c.Status)
	if c.Verdict != "" && c.Verdict != report.NoVerdict {
		fmt.Fprintf(p.w, ", %s", c.Verdict)
	}
	fmt.Fprintf(p.w, " (%d ms)\n", c.DurationMS)
	for line := range strings.Lines(c.Log) {
		fmt.Fprintf(p.w, "   %s\n", report.Printable(strings.TrimSuffix(line, "\n")))
	}
}

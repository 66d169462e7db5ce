package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// printer is a pane in which nothing prints but the test.
type printer struct {
	t    testing.TB
	srv  *tmux.Server
	pane tmux.PaneRef
	in   *os.File
	n    int
	seen *tmux.Mark
}

func newPrinter(t testing.TB, srv *tmux.Server, width, height int) *printer {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "in")
	ok(t, syscall.Mkfifo(fifo, 0o600))
	in, err := os.OpenFile(fifo, os.O_RDWR, 0) // for both, so that neither end waits for the other
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	id := tmuxtest.Run(t, srv, "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-P", "-F", "#{pane_id}", "stty -echo; exec cat <"+fifo)
	p := &printer{t: t, srv: srv, pane: srv.Pane(tmux.PaneID(id)), in: in}
	p.resize(width, height)
	p.print("")
	p.seen = p.look().Mark()
	return p
}

func (p *printer) run(name string, args ...string) string {
	p.t.Helper()
	return tmuxtest.Run(p.t, p.srv, name, append([]string{"-t", string(p.pane.ID)}, args...)...)
}

func (p *printer) resize(width, height int) {
	p.t.Helper()
	p.run("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// print returns when tmux has drawn the text, which shows by the title that is set after it.
func (p *printer) print(text string) {
	p.t.Helper()
	p.n++
	title := fmt.Sprintf("printed-%d", p.n)
	must[int](p.t)(p.in.WriteString(text + "\x1b]2;" + title + "\x1b\\"))
	tmuxtest.Wait(p.t, p.srv, string(p.pane.ID), "end of what was printed", func() bool {
		return p.run("display-message", "-p", "#{pane_title}") == title
	})
}

// look looks at the pane, and remembers that.
func (p *printer) look() *tmux.Look {
	p.t.Helper()
	l := must[*tmux.Look](p.t)(p.pane.Look(tmuxtest.Context(p.t), p.seen))
	// A mark is the same after it was stored.
	var m tmux.Mark
	ok(p.t, m.UnmarshalBinary(must[[]byte](p.t)(l.Mark().MarshalBinary())))
	p.seen = &m
	return l
}

// expect looks, and compares what is new.
func (p *printer) expect(what string, missed bool, lines ...string) {
	p.t.Helper()
	if l := p.look(); l.Missed != missed || !slices.Equal(l.New, lines) {
		p.t.Errorf("%s: new %q, missed %t; want %q, %t", what, l.New, l.Missed, lines, missed)
	}
}

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// However much was printed between two looks, the mark of the second is good for a third.
func TestMarkAfterAFlood(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", "200000")
	p := newPrinter(t, srv, 40, 10)
	p.print(strings.Repeat("a flood\n", 70_000))
	if l := p.look(); !l.Missed {
		t.Errorf("%d new lines of 70,000, and none is missed", len(l.New))
	}
	p.print("done\n")
	p.expect("after the flood", false, "done")
}

func TestLookFindsWhatIsNew(t *testing.T) {
	t.Parallel()
	srv := started(t)
	p := newPrinter(t, srv, 40, 10)
	for _, c := range []struct {
		name, before, text string
		missed             bool
		want               []string
	}{
		{"a command", "$ ", "make\nbuilt\n$ ", false, []string{"$ make", "built", "$"}},
		{"blank lines", "$ ", "\n\nafter\n", false, []string{"", "after"}},
		{"a line written over", "10%", "\r50%", false, []string{"50%"}},
		{"the same again", "x\nx\n", "x\nx\n", false, []string{"x", "x"}},
		{"drawn above the cursor", numberedLines(9), "\x1b[4A\x1b[JDONE\n", false, []string{"DONE"}},
		{"cleared, then printed", numberedLines(5), "\x1b[2J\x1b[3J\x1b[HDONE\n", true, []string{"DONE"}},
		{"moved down", numberedLines(3), "\x1b7\x1b[1;1H\x1b[Lnew\x1b8", false, []string{"new"}},
		{"moved down, with the line of the cursor", numberedLines(6) + "\x1b[6;1H\x1b[1C", "\x1b[2T", false, nil},
		{"scrolled in a part of the screen", numberedLines(8), "\x1b7\x1b[1;3r\x1b[3;1H\nnew\x1b[r\x1b8", false, []string{"new"}},
		{"to the alternate screen", numberedLines(3), "\x1b[?1049h\x1b[HDONE\n", false, []string{"DONE"}},
		{"from the alternate screen", "\x1b[?1049h\x1b[H" + numberedLines(9), "\x1b[?1049lDONE\n", false, []string{"DONE"}},
		{"behind the alternate screen", "\x1b[?1049h\x1b[Hpainted", "\x1b[?1049lhidden\n\x1b[?1049h\x1b[Hpainted", false, []string{"hidden"}},
		{"a menu", "\x1b[?1049h\x1b[H" + numberedLines(5), "\x1b[2;1H\x1b[Kchosen", false, []string{"chosen"}},
		{"blanks behind a line, which wrap", numberedLines(5), "\x1b[4;40H       \x1b[6;1H", false, nil},
		{"a blank row that wraps, before a line", "\x1b[4;8r\x1b[3;40H日line 0\nline 1\nline 2\nline 3\n", "\n\x1b[r\x1b[8;1H", false, nil},
		{"a long line that goes on", strings.Repeat("a", 60), "b", false, []string{strings.Repeat("a", 60) + "b"}},
	} {
		p.print("\x1b[?1049l\x1b[H\x1b[2J\x1b[3J" + c.before)
		p.look()
		p.expect(c.name+": before", false)
		p.print(c.text)
		p.expect(c.name, c.missed, c.want...)
		p.expect(c.name+": after", false)
	}
	long := strings.Repeat("wide", 12)
	for _, c := range []struct {
		name   string
		change func()
		missed bool
		shown  []string // if lines were missed
	}{
		{"higher", func() { p.resize(60, 20) }, true, nil},
		{"lower", func() { p.resize(60, 5) }, true, nil},
		{"wider", func() { p.resize(100, 10) }, true, []string{"line 34", long, "line 36"}},
		{"narrower", func() { p.resize(30, 10) }, true, []string{"line 34", long, "line 36"}},
		{"history cleared", func() { p.run("clear-history") }, true, []string{"line 34", long, "line 36"}},
	} {
		p.resize(60, 10)
		p.print("\x1b[?1049l\x1b[H\x1b[2J\x1b[3J" + strings.Replace(numberedLines(37), "line 35", long, 1))
		p.look()
		c.change()
		l := p.look()
		if n := max(0, len(l.New)-3); l.Missed != c.missed || !slices.Equal(l.New[n:], c.shown) {
			t.Errorf("%s: new %q, missed %t; want %q, %t", c.name, l.New, l.Missed, c.shown, c.missed)
		}
		p.print("DONE\n")
		p.expect(c.name+", then printed", false, "DONE")
	}
}

// TestWhereNewLinesBegin: the rows of new lines, and how they are found again later.
func TestWhereNewLinesBegin(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", "30")
	p := newPrinter(t, srv, 20, 5)
	expect := func(what string, l *tmux.Look, shift, cursor int, text string, rows ...int) {
		t.Helper()
		row, line := l.CursorLine()
		if l.Shift != shift || row != cursor || line != text || !slices.Equal(l.NewRows, rows) {
			t.Errorf("%s: new %q in rows %v, shift %d, cursor in %d %q; want rows %v, %d, %d %q", what, l.New, l.NewRows, l.Shift, row, line, rows, shift, cursor, text)
		}
	}
	p.print("one\n" + strings.Repeat("x", 30) + "\n$ ")
	expect("three lines", p.look(), 0, 3, "$", 0, 1, 3)
	p.print("typed\n" + numberedLines(6))
	expect("lines that scroll", p.look(), 0, 10, "", 3, 4, 5, 6, 7, 8, 9)
	p.print("\x1b[?1049h\x1b[3;4Hdrawn")
	expect("the alternate screen", p.look(), 0, -3, "   drawn", -3)
	p.print("\x1b[?1049l" + numberedLines(22))
	l := p.look()
	p.print(numberedLines(8)) // the history is full: tmux trims three rows at a time
	if again := p.look(); again.Shift == 0 || again.Shift < 0 != again.Missed || l.Shift != 0 {
		t.Errorf("lines that are trimmed: shift %d, missed %t", again.Shift, again.Missed)
	}
	// A prompt with something on its right is another one in the next row.
	p.print("\x1b[2J\x1b[H1\n2\n$        right\r\x1b[2C")
	p.look()
	p.print("ls\r\n\r$        right\r\x1b[2C")
	p.expect("a prompt like the one before", false, "$ ls     right", "$        right")
}

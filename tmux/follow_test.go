package tmux_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

var (
	follows    = flag.Int("follows", 600, "how often TestFollowing looks at each of its panes")
	followSeed = flag.Uint64("follow-seed", 1, "its seed; 0: a random one")
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
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
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
	if _, err := p.in.WriteString(text + "\x1b]2;" + title + "\x1b\\"); err != nil {
		p.t.Fatal(err)
	}
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
	if err := m.UnmarshalBinary(must[[]byte](p.t)(l.Mark().MarshalBinary())); err != nil {
		p.t.Fatal(err)
	}
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

func TestLookFindsWhatIsNew(t *testing.T) {
	t.Parallel()
	srv := started(t)
	p := newPrinter(t, srv, 40, 10)
	exact := p.look().HistoryGeneration != nil
	for _, c := range []struct {
		name, before, text string
		missed             bool // before tmux 3.8 it cannot be known
		want               []string
	}{
		{"a command", "$ ", "make\nbuilt\n$ ", false, []string{"$ make", "built", "$"}},
		{"blank lines", "$ ", "\n\nafter\n", false, []string{"", "after"}},
		{"a line written over", "10%", "\r50%", false, []string{"50%"}},
		{"the same again", "x\nx\n", "x\nx\n", false, []string{"x", "x"}},
		{"drawn above the cursor", numberedLines(9), "\x1b[4A\x1b[JDONE\n", false, []string{"DONE"}},
		{"cleared, then printed", numberedLines(5), "\x1b[2J\x1b[3J\x1b[HDONE\n", true, []string{"DONE"}},
		{"moved down", numberedLines(3), "\x1b7\x1b[1;1H\x1b[Lnew\x1b8", false, []string{"new"}},
		{"scrolled in a part of the screen", numberedLines(8), "\x1b7\x1b[1;3r\x1b[3;1H\nnew\x1b[r\x1b8", false, []string{"new"}},
		{"to the alternate screen", numberedLines(3), "\x1b[?1049h\x1b[HDONE\n", false, []string{"DONE"}},
		{"from the alternate screen", "\x1b[?1049h\x1b[H" + numberedLines(9), "\x1b[?1049lDONE\n", false, []string{"DONE"}},
		{"behind the alternate screen", "\x1b[?1049h\x1b[Hpainted", "\x1b[?1049lhidden\n\x1b[?1049h\x1b[Hpainted", false, []string{"hidden"}},
		{"a menu", "\x1b[?1049h\x1b[H" + numberedLines(5), "\x1b[2;1H\x1b[Kchosen", false, []string{"chosen"}},
		{"a long line that goes on", strings.Repeat("a", 60), "b", false, []string{strings.Repeat("a", 60) + "b"}},
	} {
		p.print("\x1b[?1049l\x1b[H\x1b[2J\x1b[3J" + c.before)
		p.look()
		p.expect(c.name+": before", false)
		p.print(c.text)
		p.expect(c.name, c.missed && !exact, c.want...)
		p.expect(c.name+": after", false)
	}
	for _, c := range []struct {
		name   string
		change func()
		missed bool
	}{
		{"higher", func() { p.resize(40, 20) }, false},
		{"lower", func() { p.resize(40, 5) }, false},
		{"wider", func() { p.resize(100, 10) }, false},
		{"narrower", func() { p.resize(30, 10) }, false},
		{"history cleared", func() { p.run("clear-history") }, false},
	} {
		p.resize(60, 10)
		p.print("\x1b[?1049l\x1b[H\x1b[2J\x1b[3J" + strings.Replace(numberedLines(40), "line 35", strings.Repeat("wide", 12), 1))
		p.look()
		c.change()
		p.expect(c.name, c.missed)
		c.change()
		p.print("DONE\n")
		p.expect(c.name+", then printed", c.missed, "DONE")
	}
}

// TestFollowing changes panes at random between looks: it prints, draws above the cursor, erases,
// scrolls parts of the screen, clears, resizes and switches screens. Everything that is printed has
// a unique word. Each that is there at a look was reported exactly once, unless lines were declared
// missed; and they are never declared missed where nothing can have been lost.
func TestFollowing(t *testing.T) {
	t.Parallel()
	srv := started(t)
	for _, limit := range []int{60, 500, 2000} {
		tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", strconv.Itoa(limit))
		p := newPrinter(t, srv, 60, 12)
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			p.t = t
			seed := *followSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			f := &following{printer: p, r: rand.New(rand.NewPCG(seed, uint64(limit))), limit: limit, seed: seed, height: 12, reported: map[string]string{}}
			f.print("begin\n")
			f.look()
			for range *follows {
				f.step()
				if t.Failed() {
					return
				}
			}
			t.Logf("seed %d: %d words in %d looks, lines declared missed %d times", seed, f.words, f.looks, f.alarms)
		})
	}
}

type following struct {
	*printer
	r             *rand.Rand
	limit, height int
	seed          uint64
	alternate     bool
	mixed         bool // the pane was resized while the alternate screen showed
	words         int
	looks, alarms int
	reported      map[string]string // the line that each word was on

	// Of the time since the last look:
	ops     []string
	printed []string // words on lines that only scroll
	rows    int      // that they take at most
	erases  bool     // words may be gone because a program drew over them
	loses   bool     // or because the history was cleared, or wrapped anew
	twice   bool     // the pane got higher or lower more than once
}

var followWord = regexp.MustCompile(`w[0-9]{7}`)

func (f *following) word() string {
	f.words++
	return fmt.Sprintf("w%07d", f.words)
}

// lines are some lines to print.
func (f *following) lines(n int) string {
	var b strings.Builder
	for range n {
		w := f.word()
		f.printed = append(f.printed, w)
		b.WriteString((w + strings.Repeat("-"+strings.Map(func(d rune) rune { return d - '0' + 'a' }, w[1:]), 12))[:8+f.r.IntN(2)*f.r.IntN(96)] + "\n")
	}
	f.rows += 6 * n
	return b.String()
}

func (f *following) step() {
	t := f.t
	f.ops, f.printed, f.rows, f.erases, f.loses, f.twice = nil, nil, 0, f.alternate, f.mixed, false
	was := f.alternate
	before := must[*tmux.Look](t)(f.pane.Look(tmuxtest.Context(t), nil))
	for range f.r.IntN(4) {
		f.change()
	}
	resized := slices.Contains(f.ops, "width") || slices.Contains(f.ops, "height")
	f.loses = f.loses || resized && (was || slices.Contains(f.ops, "switch"))
	f.mixed = f.alternate && f.mixed || resized && (was || f.alternate)
	l := f.look()
	f.looks++
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("limit %d seed %d, look %d, %v, history %d -> %d: %s\nnew %.2000q", f.limit, f.seed, f.looks, f.ops, before.History, l.History, fmt.Sprintf(format, args...), l.New)
	}
	for _, line := range l.New {
		if !f.erases && !f.loses && !l.Missed && line != "" && followWord.FindStringIndex(line) == nil {
			fail("%q is only the rest of a line", line)
			return
		}
		for _, w := range followWord.FindAllString(line, -1) {
			// A wrapped line of which a row was drawn over is another line.
			if f.reported[w] == line && !l.Missed && !f.twice {
				fail("%s was reported before", w)
				return
			}
			f.reported[w] = line
		}
	}
	shown := f.run("capture-pane", "-p", "-S", "-", "-J")
	if f.alternate && !f.mixed { // else it may not be known before it shows
		shown += f.run("capture-pane", "-p", "-a", "-J")
	}
	for _, w := range followWord.FindAllString(shown, -1) {
		if f.reported[w] == "" {
			if !l.Missed {
				fail("%s is there, and was not reported", w)
				return
			}
			f.reported[w] = "missed"
		}
	}
	if l.Missed {
		f.alarms++
		if !f.loses && (f.rows < f.limit*9/10-f.height && before.History > 10) {
			fail("nothing can have been lost, and lines are declared missed")
		}
		return
	}
	if before.HistoryGeneration == nil && !before.AnyAbove() {
		return // before tmux 3.8 nothing shows that this was cleared
	}
	for _, w := range f.printed {
		if f.reported[w] == "" && !f.erases {
			fail("%s was lost silently", w)
			return
		}
	}
}

// change does something to the pane.
func (f *following) change() {
	pick := func(ops ...string) string { return ops[f.r.IntN(len(ops))] }
	op := pick("print", "print", "print", "flood", "paint", "redraw", "clear screen", "clear scrollback", "clear all", "clear-history", "switch", "width", "height", "region", "insert", "delete", "reverse", "progress")
	f.ops = append(f.ops, op)
	row := 1 + f.r.IntN(f.height)
	paint := fmt.Sprintf("\x1b7\x1b[%d;1H\x1b[2K", row)
	if f.alternate {
		// The same words would be on both screens, or scroll off the alternate one.
		switch op {
		case "switch", "width", "height":
		default:
			f.print(paint + f.word() + "\x1b8")
			return
		}
	}
	switch op {
	case "print":
		f.print(f.lines(1 + f.r.IntN(8)))
	case "flood":
		f.print(f.lines(1 + f.r.IntN(min(600, 2*f.limit+20))))
	case "paint":
		f.erases = true
		f.print(paint + f.word() + "\x1b8")
	case "progress":
		f.erases = true
		f.print("\r\x1b[K" + f.word())
	case "redraw":
		f.erases = true
		f.print(fmt.Sprintf("\r\x1b[%dA\x1b[J", 1+f.r.IntN(6)) + f.lines(1+f.r.IntN(3)))
	case "clear screen":
		f.rows += f.height // which scroll off
		f.print("\x1b[H\x1b[2J" + f.lines(1))
	case "clear scrollback":
		f.loses = true
		f.print(f.lines(1) + "\x1b[3J" + f.lines(1))
	case "clear all":
		f.loses = true
		f.print("\x1b[H\x1b[2J\x1b[3J" + f.lines(1+f.r.IntN(3)))
	case "clear-history":
		f.loses = true
		f.run("clear-history")
	case "switch":
		f.alternate = !f.alternate
		f.erases = true
		if f.alternate {
			f.print("\x1b[?1049h\x1b[H\x1b[2J" + f.word())
		} else {
			f.print("\x1b[?1049l")
		}
	case "width":
		f.loses, f.erases = true, true
		f.run("resize-window", "-x", strconv.Itoa(20+f.r.IntN(100)))
	case "height":
		f.erases = true
		f.height = 4 + f.r.IntN(20)
		// Twice between two looks, and it is not seen how many rows the screen took back.
		f.twice = slices.Contains(f.ops[:len(f.ops)-1], "height")
		f.loses = f.loses || f.twice
		f.run("resize-window", "-y", strconv.Itoa(f.height))
	case "region":
		f.erases = true
		f.print("\x1b7\x1b[1;3r\x1b[3;1H\n" + f.lines(1) + "\x1b[r\x1b8")
	case "insert":
		f.erases = true
		f.print(fmt.Sprintf("\x1b7\x1b[%d;1H\x1b[L%s\x1b8", row, f.word()))
	case "delete":
		f.erases = true
		f.print(fmt.Sprintf("\x1b7\x1b[%d;1H\x1b[M\x1b8", row))
	case "reverse":
		f.erases = true
		f.print("\x1b7\x1b[1;1H\x1bM" + f.word() + "\x1b8")
	}
}

package tmux_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestFollowingHiddenLines: what the alternate screen hides is new neither then nor when it shows
// again. Tmux wraps it anew only when it shows, and cuts it until then if it has become too long.
func TestFollowingHiddenLines(t *testing.T) {
	t.Parallel()
	srv := started(t)
	long := strings.Repeat("wide", 12)
	for _, n := range []int{8, 40} { // without a history, and with one
		p := newPrinter(t, srv, 100, 10)
		lines := strings.Split(strings.Replace(numberedLines(n), "line 5", long, 1), "\n")
		p.print(strings.Join(lines, "\n"))
		p.look()
		for _, c := range []struct {
			step   string
			text   string
			width  int // resized to, before the text is printed
			height int
			missed bool
			want   []string
		}{
			{step: "alternate", text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "narrower", width: 90, missed: true, want: []string{"one"}},
			{step: "printed", text: "two\n", want: []string{"two"}},
			{step: "wider", width: 100, missed: true, want: []string{"one", "two"}},
			{step: "back", text: "\x1b[?1049l"},
			{step: "printed behind it", text: "done\n", want: []string{"done"}},
			{step: "alternate for its height", text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "lower", height: 5, missed: true},
			{step: "higher", height: 10, missed: true},
			{step: "back with a line", text: "\x1b[?1049lafter\n", want: []string{"after"}},
			{step: "alternate and narrow", text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "narrow", width: 30, missed: true, want: []string{"one"}},
			{step: "something hidden", text: "\x1b[?1049lhidden\n\x1b[?1049h\x1b[Hthree", missed: true, want: []string{"three"}},
			{step: "still hidden", text: "\nfour", want: []string{"four"}},
		} {
			switch {
			case c.width > 0:
				p.resize(c.width, 10)
			case c.height > 0:
				p.resize(100, c.height)
			}
			p.print(c.text)
			p.expect(fmt.Sprintf("%d lines, %s", n, c.step), c.missed, c.want...)
		}
		p.print("\x1b[?1049llast\n")
		if l := p.look(); !l.Missed && !slices.Equal(l.New, []string{"last"}) || l.New[len(l.New)-1] != "last" {
			t.Errorf("%d lines, back to the end: new %q, missed %t", n, l.New, l.Missed)
		}
	}
}

// TestFollowingLosses: each line is new once or lines are declared missed, whatever is done to the
// pane. Text is printed, other steps are done.
func TestFollowingLosses(t *testing.T) {
	t.Parallel()
	srv := started(t)
	const alternate, back, erase, eraseAll = "\x1b[?1049h", "\x1b[?1049l", "\x1b[2J", "\x1b[2J\x1b[3J"
	n := 0
	lines := func(count, width int) (text string) {
		for range count {
			n++
			word := fmt.Sprintf("w%d.", n)
			text += word + strings.Repeat("-", max(0, width-len(word))) + "\n"
		}
		return text
	}
	type do = func(p *printer)
	look := do(nil)
	run := func(args ...string) do { return func(p *printer) { p.run(args[0], args[1:]...) } }
	size := func(width, height int) do { return func(p *printer) { p.resize(width, height) } }
	copyMode := run("copy-mode")
	for _, c := range []struct {
		name  string
		limit int
		steps []any
	}{
		{"alternate in a full history", 20, []any{alternate, look, back, lines(70, 0), look}},
		{"trimmed and wider", 50, []any{alternate, back, look, lines(63, 0), size(100, 12), look}},
		{"alternate after wrapping", 50, []any{lines(2, 158), size(80, 12), lines(8, 0), look, lines(2, 70), alternate, look}},
		{"alternate after trimming", 20, []any{alternate, back, size(60, 6), lines(2, 168), look, alternate, look}},
		{"cleared", 2000, []any{lines(3, 0), look, lines(2, 0), eraseAll, lines(1, 0), look}},
		{"erased", 2000, []any{lines(3, 0), look, lines(2, 0), erase, lines(1, 0), look}},
		{"cleared in copy mode", 2000, []any{lines(3, 0), look, copyMode, lines(2, 0), eraseAll, "\x1b[H", lines(1, 0), look}},
		{"erased in copy mode", 2000, []any{lines(3, 0), look, copyMode, lines(2, 0), erase, lines(1, 0), look}},
		{"erased in copy mode, with a history", 2000, []any{lines(30, 0), "\x1b[H\x1b[2J", lines(3, 0), look, copyMode, lines(2, 0), erase, "\x1b[H", lines(1, 0), look}},
		{"reset in copy mode", 2000, []any{lines(30, 0), look, copyMode, lines(2, 0), "\x1bc", lines(1, 0), look}},
		{"history cleared", 2000, []any{lines(3, 0), look, lines(30, 0), run("clear-history"), look}},
		{"history cleared, below one", 2000, []any{lines(30, 0), look, lines(30, 0), run("clear-history"), lines(60, 0), look}},
		{"respawned", 2000, []any{lines(30, 0), look, lines(3, 0), run("respawn-pane", "-k", "sleep 1000"), look}},
		{"cut off below the cursor", 2000, []any{lines(30, 0), "\x1b[H", look, "\x1b[9;1H", lines(1, 0), "\x1b[H", size(60, 4), look}},
		{"trimmed below the cursor", 2000, []any{lines(30, 0), "\x1b[H", look, "\x1b[9;1H", lines(1, 0), "\x1b[H", run("resize-pane", "-T"), look}},
		{"drawn where the history was", 2000, []any{lines(200, 0), look, size(60, 80), "\x1b7\x1b[H\x1b[2K", lines(1, 0), "\x1b8", size(60, 12), look}},
		{"without a history", 0, []any{lines(3, 0), look, lines(30, 0), look}},
		{"without a history, on a blank screen", 0, []any{look, lines(30, 0), look, "x", look}},
		{"a history of one row", 1, []any{lines(30, 0), look, lines(3, 0), look}},
		{"a part of the screen through a history that fills up", 1, []any{lines(6, 0), look, "\x1b[12;1H\x1bD\x1b[9;10r\x1b[9;1H", lines(5, 0), look}},
		{"narrow, without a history", 0, []any{size(1, 5), lines(1, 0), look, lines(1, 0), look}},
		{"cleared, with nothing above", 2000, []any{strings.TrimSpace(lines(1, 0)), look, lines(1, 0), eraseAll, look}},
		{"erased, with only blank lines above", 2000, []any{"\n\n", look, copyMode, lines(1, 0), erase, "\x1b[H", lines(1, 0), look}},
		{"trimmed twice", 10, []any{lines(30, 0), look, lines(40, 0), look}},
	} {
		tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", fmt.Sprint(c.limit))
		p := newPrinter(t, srv, 60, 12)
		printed, reported := map[string]bool{}, map[string]bool{}
		word := regexp.MustCompile(`w[0-9]+\.`)
		for i, step := range append(c.steps, look) {
			switch step := step.(type) {
			case string:
				p.print(step)
				for _, w := range word.FindAllString(step, -1) {
					printed[w] = true
				}
			case do:
				if step != nil {
					step(p)
					continue
				}
				l := p.look()
				if l.Missed && i == len(c.steps) {
					t.Errorf("%s: missed where nothing happened", c.name)
				}
				for _, text := range l.New {
					for _, w := range word.FindAllString(text, -1) {
						if reported[w] && !l.Missed {
							t.Errorf("%s: %s is new twice", c.name, w)
						}
						reported[w] = true
					}
				}
				for w := range printed {
					if !reported[w] && !l.Missed {
						t.Errorf("%s: step %d: %s was lost silently", c.name, i, w)
					}
				}
				clear(printed)
			}
		}
	}
}

// TestFollowingARest: the first look at a pane begins in the middle of a line.
func TestFollowingARest(t *testing.T) {
	t.Parallel()
	p := newPrinter(t, started(t), 60, 10)
	p.print(numberedLines(5) + strings.Repeat("w", 2*60) + "\n" + numberedLines(108))
	p.seen = nil
	p.look()
	p.print("after\n")
	p.expect("a rest", false, "after")
}

// TestFollowingFarBack: what is read begins in the middle of a line that was known.
func TestFollowingFarBack(t *testing.T) {
	t.Parallel()
	srv := started(t)
	p := newPrinter(t, srv, 60, 10)
	for n := 110; n < 112; n++ {
		p.print(strings.Repeat(strings.Repeat("w", 2*60-1)+"\n", 60))
		p.look()
		p.look() // nothing has been printed, so the next look reads little more
		p.print(numberedLines(n))
		if l := p.look(); l.Missed || len(l.New) != n || l.New[0] != "line 0" {
			t.Errorf("of %d lines %d are new, from %.20q on, missed %t", n, len(l.New), l.New[0], l.Missed)
		}
	}
}

// TestFollowingAnOldResize: the pane was resized behind the alternate screen before the first look.
func TestFollowingAnOldResize(t *testing.T) {
	t.Parallel()
	srv := started(t)
	for _, c := range []struct {
		width  int
		missed bool
		want   []string
	}{{100, false, []string{"after"}}, {30, true, []string{"line 6", strings.Repeat("wide", 12), "after"}}} {
		p := newPrinter(t, srv, 100, 10)
		p.print(numberedLines(7) + strings.Repeat("wide", 12) + "\n\x1b[?1049h\x1b[Hone\n")
		p.resize(c.width, 10)
		p.seen = nil
		p.look()
		p.print("\x1b[?1049lafter\n")
		if l := p.look(); l.Missed != c.missed || !slices.Equal(l.New[max(0, len(l.New)-len(c.want)):], c.want) {
			t.Errorf("%d columns: new %q, missed %t; want %q, %t", c.width, l.New, l.Missed, c.want, c.missed)
		}
	}
}

// TestFollowingAnEnd: what tmux writes into a dead pane is not the program's.
func TestFollowingAnEnd(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	p := newPrinter(t, srv, 60, 10)
	p.print("last\n")
	p.in.Close()
	tmuxtest.Wait(t, srv, string(p.pane.ID), "end of the program", func() bool {
		tmuxtest.Reap(t, srv)
		return strings.Contains(p.run("capture-pane", "-p"), "Pane is dead")
	})
	p.expect("dead", false, "last")
}

// TestFollowingALimit: a history that is full, and none.
func TestFollowingALimit(t *testing.T) {
	t.Parallel()
	srv := started(t)
	pane := func(limit string) *printer {
		tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", limit)
		return newPrinter(t, srv, 60, 10)
	}
	all := func(l *tmux.Look) string {
		return fmt.Sprintf("%d to %s, missed %t", len(l.New), strings.Join(l.New[max(0, len(l.New)-1):], ""), l.Missed)
	}
	p := pane("0")
	p.print(numberedLines(5))
	p.look()
	p.print("six\n")
	p.expect("without a history", false, "six")
	p.print(numberedLines(12))
	if l := p.look(); !l.Missed || all(l) != "9 to line 11, missed true" {
		t.Errorf("without a history, what scrolls: %s", all(l))
	}
	p = pane("100")
	p.print(numberedLines(95))
	p.look()
	for _, c := range []struct {
		lines int
		want  string
	}{
		{1, "1 to line 0, missed false"}, {12, "12 to line 11, missed false"}, {0, "0 to , missed false"}, {30, "30 to line 29, missed false"}, {300, "9 to line 299, missed true"},
	} {
		p.print(numberedLines(c.lines))
		equal(t, fmt.Sprintf("%d lines in a full history", c.lines), c.want, all(p.look()))
	}
	// Ten rows are trimmed at once, and six come back from what is left.
	p = pane("100")
	p.print(numberedLines(40))
	p.look()
	p.print(numberedLines(70))
	p.resize(60, 16)
	equal(t, "trimmed, then higher", "70 to line 69, missed true", all(p.look()))
	// All lines are the same, so those that were known may be in several places.
	p = pane("100")
	p.print(strings.Repeat("same\n", 158))
	exact := p.look().HistoryGeneration != nil
	p.print(strings.Repeat("same\n", 29))
	if l := p.look(); exact && all(l) != "29 to same, missed false" || !exact && all(l) != "9 to same, missed true" {
		t.Errorf("trimmed, and all the same: %s", all(l))
	}
	// Of a line that was known, one row is left.
	p = pane("60")
	p.print(numberedLines(5) + strings.Repeat("w", 2*60-1) + "\n" + numberedLines(13))
	p.look()
	p.print(strings.ReplaceAll(numberedLines(54), "line", "after"))
	equal(t, "trimmed in a line", "54 to after 53, missed false", all(p.look()))
	// A line like one that was known is new, although that is gone.
	p = pane("60")
	p.print("same\n" + numberedLines(20))
	p.look()
	p.print(strings.ReplaceAll(numberedLines(48), "line", "after") + "same\n")
	p.resize(50, 10)
	equal(t, "trimmed, then wrapped anew", "9 to same, missed true", all(p.look()))
	// Behind the alternate screen the pane gets higher: its screen has rows of the history back,
	// and another among them.
	p = pane("100")
	p.print(numberedLines(95) + strings.Repeat("w", 2*60-1) + "\n" + numberedLines(11) + "\x1b[?1049h\x1b[Hone\n")
	p.resize(60, 15)
	p.look()
	p.print("\x1b[?1049l\x1b7\x1b[H\x1bMnew\x1b8")
	if l := p.look(); all(l) != "1 to new, missed true" && (exact || !l.Missed) {
		t.Errorf("inserted into what had been hidden: %s", all(l))
	}
	// The only line that was known goes on, and may be trimmed.
	for _, c := range []struct {
		lines  int
		missed bool
		want   string
	}{{18, !exact, "19 to line 17, missed false"}, {30, true, ""}} {
		if c.missed {
			c.want = fmt.Sprintf("9 to line %d, missed true", c.lines-1)
		}
		p = pane("10")
		p.print("$ ls")
		p.look()
		p.print(" -l\n" + numberedLines(c.lines))
		equal(t, fmt.Sprintf("%d lines below a prompt", c.lines), c.want, all(p.look()))
	}
	// What is below the cursor is written over before it is trimmed.
	p = pane("60")
	p.print(numberedLines(5) + "\x1b7\x1b[9;1Hbelow\x1b8")
	p.look()
	p.print(strings.ReplaceAll(numberedLines(65), "line", "after"))
	equal(t, "trimmed below the cursor", "9 to after 64, missed true", all(p.look()))
}

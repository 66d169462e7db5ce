package tmux_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestFollowingHiddenLines: what the alternate screen hides is not new when it shows again, although
// tmux does not wrap it anew, nor show what has become too long, while it is hidden.
func TestFollowingHiddenLines(t *testing.T) {
	t.Parallel()
	srv := started(t)
	long := strings.Repeat("wide", 12)
	for _, n := range []int{8, 40} { // without a history, and with one
		p := newPrinter(t, srv, 60, 10)
		p.print(strings.Replace(numberedLines(n), "line 5", long, 1))
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
			{step: "narrower", width: 30},
			{step: "printed", text: "two\n", want: []string{"two"}},
			{step: "wider", width: 60},
			{step: "back", text: "\x1b[?1049l"},
			{step: "printed behind it", text: "done\n", want: []string{"done"}},
			{step: "alternate again", text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "narrower again", width: 30},
			{step: "back and narrow", text: "\x1b[?1049l"},
			{step: "printed narrow", text: "and more\n", want: []string{"and more"}},
			{step: "wider than before", width: 70},
			{step: "as before", width: 60},
			{step: "alternate for its height", text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "lower", height: 5},
			{step: "higher", height: 10},
			{step: "back with a line", text: "\x1b[?1049lafter\n", want: []string{"after"}},
			{step: "alternate at last", text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "narrow, and something hidden", width: 30, text: "\x1b[?1049lhidden " + long + "\n\x1b[?1049h\x1b[Hthree", missed: true, want: []string{"hidden " + long, "three"}},
			{step: "still hidden", text: "\nfour", want: []string{"four"}},
			{step: "back to the end", text: "\x1b[?1049llast\n", missed: true, want: []string{"last"}},
			{step: "wide for the last time", width: 60},
			{step: "alternate and narrow", width: 60, text: "\x1b[?1049h\x1b[Hone\n", want: []string{"one"}},
			{step: "narrow and drawn", width: 30, text: "two\n", want: []string{"two"}},
			{step: "still narrow", text: "three\n", want: []string{"three"}},
			{step: "back with one more", text: "\x1b[?1049lmore\n", missed: true, want: []string{"more"}},
		} {
			switch {
			case c.width > 0:
				p.resize(c.width, 10)
			case c.height > 0:
				p.resize(60, c.height)
			}
			p.print(c.text)
			p.expect(fmt.Sprintf("%d lines, %s", n, c.step), c.missed, c.want...)
		}
	}
}

// TestFollowingWrappedAnew: a line that came or went among those that were wrapped anew.
func TestFollowingWrappedAnew(t *testing.T) {
	t.Parallel()
	srv := started(t)
	ten := numberedLines(10) // which fill the screen and put one row in the history
	for _, c := range []struct {
		name, before, text string
		widths             []int
		text2              string
		missed             bool
		want               []string
	}{
		{name: "deleted", before: ten, text: "\x1b7\x1b[H\x1b[M\x1b8", widths: []int{50}},
		{name: "deleted, and printed", before: ten, text: "\x1b7\x1b[H\x1b[M\x1b8after\n", widths: []int{50}, want: []string{"after"}},
		{name: "inserted", before: ten, text: "\x1b7\x1b[H\x1bMnew\x1b8", widths: []int{50}, missed: true, want: []string{"new"}},
		{name: "blank lines", before: strings.Repeat("w", 100) + "\n" + numberedLines(9), widths: []int{110}, text2: "\n\nafter\n", want: []string{"", "after"}},
		{name: "behind a line of many rows", before: strings.Repeat("w", 60*40) + "\n", widths: []int{50}, text2: "after\n", want: []string{"after"}},
		{name: "all the same", before: strings.Repeat("same\n", 30), text: strings.Repeat("same\n", 5), widths: []int{50}, missed: true, want: slices.Repeat([]string{"same"}, 5)},
		{name: "inserted above what was the history", before: strings.Repeat("w", 100) + "\n" + numberedLines(8), widths: []int{60, 110},
			text2: "\x1b7\x1b[H\x1bMnew\x1b8\x1b[H\x1b[2Jafter\n", want: []string{"new", "after"}},
	} {
		p := newPrinter(t, srv, 40, 10)
		p.print(c.before)
		p.look()
		p.print(c.text)
		for _, width := range c.widths {
			p.resize(width, 10)
		}
		p.print(c.text2)
		p.expect(c.name, c.missed, c.want...)
	}
}

// TestFollowingARest: the first look at a pane begins in the middle of a line.
func TestFollowingARest(t *testing.T) {
	t.Parallel()
	srv := started(t)
	for _, width := range []int{60, 50} {
		p := newPrinter(t, srv, 60, 10)
		p.print(numberedLines(5) + strings.Repeat("w", 2*60) + "\n" + numberedLines(48))
		p.seen = nil
		p.look()
		p.print("after\n")
		p.resize(width, 10)
		p.expect(fmt.Sprint(width), false, "after")
	}
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
	long := strings.Repeat("wide", 12)
	for _, n := range []int{8, 40} { // without a history, and with one
		p := newPrinter(t, srv, 60, 10)
		p.print(strings.Replace(numberedLines(n), "line 5", long, 1) + "\x1b[?1049h\x1b[Hone\n")
		p.resize(30, 10)
		p.seen = nil
		p.look()
		p.print("\x1b[?1049lafter\n")
		p.expect(fmt.Sprintf("%d lines", n), n == 40, long, "after")
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
		{1, "1 to line 0, missed false"}, {12, "12 to line 11, missed false"}, {0, "0 to , missed false"}, {30, "30 to line 29, missed false"}, {300, "108 to line 299, missed true"},
	} {
		p.print(numberedLines(c.lines))
		if l := p.look(); all(l) != c.want {
			t.Errorf("%d lines in a full history: %s, want %s", c.lines, all(l), c.want)
		}
	}
	// Ten rows are trimmed at once, and six come back from what is left.
	p = pane("100")
	p.print(numberedLines(40))
	p.look()
	p.print(numberedLines(70))
	p.resize(60, 16)
	if l := p.look(); all(l) != "70 to line 69, missed false" {
		t.Errorf("trimmed, then higher: %s", all(l))
	}
	// All lines are the same, so those that were known may be in several places.
	p = pane("100")
	p.print(strings.Repeat("same\n", 158))
	exact := p.look().HistoryGeneration != nil
	p.print(strings.Repeat("same\n", 29))
	if l := p.look(); l.Missed == exact || len(l.New) < 29 || exact && len(l.New) > 29 {
		t.Errorf("trimmed, and all the same: %s", all(l))
	}
	// Of a line that was known, one row is left.
	p = pane("60")
	p.print(numberedLines(5) + strings.Repeat("w", 2*60-1) + "\n" + numberedLines(13))
	p.look()
	p.print(strings.ReplaceAll(numberedLines(54), "line", "after"))
	if l := p.look(); all(l) != "54 to after 53, missed false" {
		t.Errorf("trimmed in a line: %s", all(l))
	}
	// A line like one that was known is new, although that is gone.
	p = pane("60")
	p.print("same\n" + numberedLines(20))
	p.look()
	p.print(strings.ReplaceAll(numberedLines(48), "line", "after") + "same\n")
	p.resize(50, 10)
	if l := p.look(); all(l) != "49 to same, missed false" {
		t.Errorf("trimmed, then wrapped anew: %s", all(l))
	}
	// Behind the alternate screen the pane gets higher: its screen has rows of the history back,
	// and another among them.
	p = pane("100")
	p.print(numberedLines(95) + strings.Repeat("w", 2*60-1) + "\n" + numberedLines(11) + "\x1b[?1049h\x1b[Hone\n")
	p.resize(60, 15)
	p.look()
	p.print("\x1b[?1049l\x1b7\x1b[H\x1bMnew\x1b8")
	if l := p.look(); all(l) != "1 to new, missed false" && (exact || !l.Missed) {
		t.Errorf("inserted into what had been hidden: %s", all(l))
	}
	// The only line that was known goes on, and is trimmed.
	for _, c := range []struct {
		lines int
		want  string
	}{{18, "19 to line 17, missed false"}, {30, "19 to line 29, missed true"}} {
		p = pane("10")
		p.print("$ ls")
		p.look()
		p.print(" -l\n" + numberedLines(c.lines))
		if l := p.look(); all(l) != c.want {
			t.Errorf("%d lines below a prompt: %s, want %s", c.lines, all(l), c.want)
		}
	}
	// What is below the cursor is written over before it is trimmed.
	p = pane("60")
	p.print(numberedLines(5) + "\x1b7\x1b[9;1Hbelow\x1b8")
	p.look()
	p.print(strings.ReplaceAll(numberedLines(65), "line", "after"))
	if l := p.look(); all(l) != "64 to after 64, missed true" {
		t.Errorf("trimmed below the cursor: %s", all(l))
	}
}

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

// TestFollowingSaysWhatItMayHaveLost changes a pane between two looks in ways that
// lose lines, or their numbers, and then prints more than there was.
func TestFollowingSaysWhatItMayHaveLost(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	wide := ""
	for i := range 60 {
		wide += fmt.Sprintf("wide %d %s\n", i, strings.Repeat("x", 50))
	}
	resize := func(width string) func(*screen) {
		return func(s *screen) { tmuxtest.Run(t, srv, "resize-window", "-t", s.pane, "-x", width) }
	}
	clear := func(s *screen) { s.print("\x1b[H\x1b[2J\x1b[3J") }
	clearHistory := func(s *screen) { tmuxtest.Run(t, srv, "clear-history", "-t", s.pane) }
	scrollback := func(s *screen) { s.print("\x1b[3J") }
	alternate := func(s *screen) { s.print("\x1b[?1049h\x1b[Hpainted") }
	normal := func(s *screen) { s.print("\x1b[?1049l") }
	for i, c := range []struct {
		name           string
		width          int
		first          string
		before, during func(*screen)
	}{
		{"clear", 40, numbered(60), nil, clear},
		{"clear, little above", 40, "one\n", nil, clear},
		{"clear-history", 40, numbered(60), nil, clearHistory},
		{"scrollback cleared", 40, numbered(60), nil, scrollback},
		{"widened", 40, wide, nil, resize("120")},
		{"narrowed", 120, wide, nil, resize("40")},
		{"widened on the first screen", 40, wide[:400], nil, resize("120")},
		{"narrowed on the first screen", 120, wide[:400], nil, resize("40")},
		{"widened below short lines", 40, numbered(60) + wide[:400], nil, resize("120")},
		{"narrowed below short lines", 120, numbered(60) + wide[:400], nil, resize("40")},
		{"alternate screen on", 40, numbered(60), nil, alternate},
		{"alternate screen off", 40, numbered(60), alternate, normal},
		{"alternate screen off and on", 40, numbered(60), alternate, func(s *screen) { normal(s); s.print("hidden 1\n"); alternate(s) }},
	} {
		s := newScreen(t, srv, fmt.Sprint("s", i), c.width, 20)
		s.print(c.first)
		if c.before != nil {
			c.before(s)
		}
		f, _ := begin(p, s)
		f.expect(c.name+": before", false)
		s.print("seen\n")
		f.next("")
		s.print("lost\n")
		c.during(s)
		s.print(strings.ReplaceAll(numbered(200), "line", "new"))
		// What scrolls off the alternate screen is not output.
		painted := strings.Contains(c.name, "alternate")
		if got := f.next(""); !got.Missed && !painted && !slices.Contains(got.Lines, "lost") {
			t.Errorf("%s: %d lines, and none was missed", c.name, len(got.Lines))
		}
		f.expect(c.name+": with the new cursor", false)
		s.print("after\n")
		if got := f.next(""); got.Missed || !strings.Contains(strings.Join(got.Lines, "\n"), "after") {
			t.Errorf("%s: then %q, missed %t", c.name, got.Lines, got.Missed)
		}
	}
}

// The alternate screen looks the same again, and hides what came meanwhile.
func TestFollowingSaysThatLinesAreHidden(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 20)
	p := serve(t, configFor(srv))
	s.print("one\ntwo\n\x1b[?1049h\x1b[Hpainted")
	f, _ := begin(p, s)
	f.expect("on the alternate screen", false)
	s.print("\x1b[?1049lhidden\n\x1b[?1049h\x1b[Hpainted")
	f.expect("it was left and entered again", false, "hidden")
	f.expect("with the new cursor", false)
}

// TestWaitSaysWhatItMayHaveLost clears a pane faster than a wait can look.
func TestWaitSaysWhatItMayHaveLost(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 10)
	p := serve(t, configFor(srv))
	for _, c := range []struct {
		text   string
		missed bool
	}{
		{numbered(300) + "done\n", false},
		{numbered(20) + "lost\n\x1b[H\x1b[2J\x1b[3J" + strings.Repeat("more\n", 900) + "done\n", true},
	} {
		s.print("\x1b[H\x1b[2J\x1b[3J" + numbered(50))
		end := waitText(p, s, `"patterns":["done"],"timeout":20`)
		s.print(c.text)
		if got := end(); got.Outcome != "matched" || got.LinesMissed != c.missed {
			t.Errorf("%.20q: %+v; want lines_missed %t", c.text, got, c.missed)
		}
	}
}

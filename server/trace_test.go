package server_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

var (
	follows    = flag.Int("follows", 60, "how often TestFollowingLosesNothingSilently looks at each pane")
	followSeed = flag.Uint64("follow-seed", 0, "its seed, instead of a random one")
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
		if got := f.next(""); !got.Missed {
			t.Errorf("%s: %d lines, and none was missed", c.name, len(got.Lines))
		}
		f.expect(c.name+": with the new cursor", false)
		s.print("after\n")
		// On the alternate screen a line that scrolls changes what is above the cursor.
		painted := strings.HasSuffix(c.name, "on")
		if got := f.next(""); got.Missed != painted || !strings.Contains(strings.Join(got.Lines, "\n"), "after") {
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
	f.expect("it was left and entered again", true, "painted")
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

// TestFollowingLosesNothingSilently prints unique words while panes are cleared,
// resized, trimmed and on their alternate screen. Each word is in the lines once,
// or lines_missed is true, which it must not be for plain printing.
func TestFollowingLosesNothingSilently(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	for _, limit := range []int{60, 500, 2000} {
		tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", fmt.Sprint(limit))
		s := newScreen(t, srv, fmt.Sprint("limit", limit), 60, 10)
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			p := serve(t, configFor(srv))
			seed := *followSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			r := rand.New(rand.NewPCG(seed, 0))
			exact := tmuxtest.Run(t, srv, "display-message", "-p", "-t", s.pane, "#{history_generation}") != ""
			words, alternate := 0, false
			var printed, log []string
			word := func() string {
				words++
				w := fmt.Sprintf("w%06d", words)
				printed = append(printed, w)
				return w
			}
			clear := func(text string) {
				if !exact {
					// Nothing would be left to recognize the next clear by.
					text += word() + "\n"
				}
				s.print(text)
			}
			s.print("begin\n")
			f, _ := begin(p, s)
			looks, alarms, plain := 0, 0, 0
			for range *follows {
				printed, log = nil, nil
				before := alternate
				rows := 0
				for range r.IntN(4) {
					op := min(r.IntN(12), 7)
					if alternate && op > 3 && op != 7 {
						op = 3
					}
					log = append(log, fmt.Sprint(op))
					switch op {
					case 0:
						tmuxtest.Run(t, srv, "resize-window", "-t", s.pane, "-x", fmt.Sprint(20+r.IntN(100)), "-y", fmt.Sprint(4+r.IntN(20)))
					case 1:
						tmuxtest.Run(t, srv, "clear-history", "-t", s.pane)
					case 2:
						s.print("\x1b[H\x1b[J\x1b[5;5Hpainted") // scrolls into the history, or paints
						if !alternate {
							s.print("\n")
						}
					case 3:
						s.print(map[bool]string{false: "\x1b[?1049h", true: "\x1b[?1049l"}[alternate])
						alternate = !alternate
					case 4:
						clear("\x1b[H\x1b[2J\x1b[3J")
					case 5:
						clear("\x1b[3J")
					default:
						if alternate {
							s.print("\x1b[Hpainted again")
							continue
						}
						var text strings.Builder
						n := 1 + r.IntN(1+r.IntN(2*limit))
						for range min(n, 2000) {
							text.WriteString(word() + strings.Repeat("-", r.IntN(2)*r.IntN(100)) + "\n")
						}
						rows += 6 * n
						s.print(text.String())
					}
				}
				got := f.next(`,"max_lines":null,"max_bytes":null`)
				looks++
				onlyPrinted := !before && !slices.ContainsFunc(log, func(op string) bool { return op < "6" })
				var seen []string
				for _, l := range got.Lines {
					if strings.HasPrefix(l, "w") {
						seen = append(seen, l[:7])
					}
				}
				if onlyPrinted && rows < limit-30 {
					plain++
				}
				switch {
				case got.Missed:
					alarms++
					if onlyPrinted && rows < limit-30 {
						t.Errorf("seed %d, look %d: %d plain words, and lines_missed", seed, looks, len(printed))
					}
				case before && alternate && len(printed) == 0: // painted rows
				case !slices.Equal(seen, printed):
					t.Fatalf("seed %d, look %d, ops %v: printed %d words, seen %d, none missed\n%.300q\n%.300q", seed, looks, log, len(printed), len(seen), printed, seen)
				}
			}
			t.Logf("seed %d: %d looks at %d words; lines_missed %d times; plain printing %d times", seed, looks, words, alarms, plain)
		})
	}
}

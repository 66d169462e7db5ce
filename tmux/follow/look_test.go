package follow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// printer is a pane in which only the test prints.
type printer struct {
	t    testing.TB
	srv  *tmux.Server
	pane tmux.PaneRef
	in   *os.File
	n    int
	seen *follow.Mark
}

func newPrinter(t testing.TB, srv *tmux.Server, size string) *printer {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "in")
	check.OK(t, syscall.Mkfifo(fifo, 0o600))
	in := check.Must[*os.File](t)(os.OpenFile(fifo, os.O_RDWR, 0)) // for both, so that neither end waits for the other
	t.Cleanup(func() { in.Close() })
	id := testserver.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "stty -echo; exec cat <"+fifo)
	p := &printer{t: t, srv: srv, pane: srv.Pane(tmux.PaneID(id)), in: in}
	p.resize(size)
	p.print("")
	p.seen = p.look().Mark()
	return p
}

func (p *printer) run(name string, args ...string) string {
	p.t.Helper()
	return testserver.Run(p.t, p.srv, name, append([]string{"-t", string(p.pane.ID)}, args...)...)
}

func (p *printer) resize(size string) {
	p.t.Helper()
	width, height, _ := strings.Cut(size, "x")
	p.run("resize-window", "-x", width, "-y", height)
}

// print returns once tmux has drawn the text, as shown by the title that is set after it.
func (p *printer) print(text string) {
	p.t.Helper()
	p.n++
	title := fmt.Sprintf("printed-%d", p.n)
	check.Must[int](p.t)(p.in.WriteString(text + "\x1b]2;" + title + "\x1b\\"))
	testserver.Wait(p.t, p.srv, string(p.pane.ID), "end of what was printed", func() bool {
		return p.run("display-message", "-p", "#{pane_title}") == title
	})
}

// look looks at the pane, and remembers that.
func (p *printer) look() *follow.Look {
	p.t.Helper()
	l := check.Must[*follow.Look](p.t)(follow.LookAt(testserver.Context(p.t), p.pane.Server(), p.pane, p.seen))
	// A mark is the same after it was stored.
	p.seen = new(follow.Mark)
	check.OK(p.t, p.seen.UnmarshalBinary(check.Must[[]byte](p.t)(l.Mark().MarshalBinary())))
	return l
}

// lookScript is the state of a script in testdata/look.
type lookScript struct {
	*printer
	last    *follow.Look
	words   int             // number of words printed
	printed []string        // since the last look
	told    map[string]bool // words that were reported
}

// TestLooks plays scripts of what happens to a pane, and of what each look reports:
//
//	pane WIDTHxHEIGHT [LIMIT]  a new pane, and a first look at it; LIMIT is its history limit
//	shown TEXT                 a look finds nothing new; then the pane is cleared and shows this, and
//	                           the second look at it finds nothing new
//	print TEXT                 the program prints: see [expand]
//	words N [WIDTH]            the program prints lines, each with a unique word
//	end                        the program ends
//	resize WIDTHxHEIGHT        resize-window
//	tmux COMMAND ARGS...       another command, with the pane as its target
//	until TEXT                 waits until the screen shows that
//	forget                     the next look is a first one
//	look                       a look, whatever it reports
//	new TEXT                   a look: these lines are new, and none is missed
//	missed TEXT                a look: lines are missed, and these are new; others before them if
//	                           TEXT begins with …
//	either TEXT                a look: one of the two
//	rows N...                  the rows in which the new lines of the last look begin
//	cursor ROW TEXT            the line of its cursor
//	shift N                    by how much rows moved; + if by anything
//
// In addition, no word is reported twice, and every word is reported unless lines are
// missed.
func TestLooks(t *testing.T) {
	t.Parallel()
	counters := check.Must[tmux.Pane](t)(testserver.Started(t).Pane("%0").Info(testserver.Context(t))).HistoryGeneration != nil
	params := testscript.Params{
		Cmds: map[string]func(*testscript.TestScript, bool, []string){},
		// The only condition is counters: tmux counts rows, from 3.8 on.
		Condition: func(string) (bool, error) { return counters, nil },
	}
	for name, do := range lookCommands {
		params.Cmds[name] = func(ts *testscript.TestScript, _ bool, args []string) {
			if err := do(ts.Value("script").(*lookScript), args); err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
		}
	}
	play := func(lastLine string, files ...string) {
		params.Files = files
		params.Setup = func(env *testscript.Env) error {
			t := env.T().(testing.TB)
			env.Values["script"] = &lookScript{printer: &printer{t: t, srv: testserver.Started(t)}}
			env.Setenv("LAST", lastLine)
			return nil
		}
		t.Run(lastLine, func(t *testing.T) { testscript.Run(t, params) })
	}
	play("7", check.Must[[]string](t)(filepath.Glob("testdata/look/*.txtar"))...)
	play("39", "testdata/look/hidden.txtar") // with a history
}

var lookCommands = map[string]func(s *lookScript, args []string) error{
	"pane": func(s *lookScript, args []string) error {
		limit := "2000"
		if len(args) > 1 {
			limit = args[1]
		}
		testserver.Run(s.t, s.srv, "set-option", "-g", "history-limit", limit)
		s.printer, s.words, s.told = newPrinter(s.t, s.srv, args[0]), 0, map[string]bool{}
		return nil
	},
	"shown": func(s *lookScript, args []string) error {
		if err := s.expect(nil, "not missed"); err != nil {
			return fmt.Errorf("before it: %v", err)
		}
		s.print("\x1b[?1049l\x1b[H\x1b[2J\x1b[3J" + cases.Expand(args[0]))
		s.see()
		return s.expect(nil, "not missed")
	},
	"print": func(s *lookScript, args []string) error { s.print(cases.Expand(args[0])); return nil },
	"words": func(s *lookScript, args []string) error {
		n, width := number(args[0]), 0
		if len(args) > 1 {
			width = number(args[1])
		}
		var text strings.Builder
		for range n {
			s.words++
			word := fmt.Sprintf("w%d.", s.words)
			s.printed = append(s.printed, word)
			text.WriteString(word + strings.Repeat("-", max(0, width-len(word))) + "\n")
		}
		s.print(text.String())
		return nil
	},
	"end": func(s *lookScript, _ []string) error {
		s.in.Close()
		testserver.Wait(s.t, s.srv, string(s.pane.ID), "end of the program", func() bool {
			testserver.Reap(s.t, s.srv)
			return strings.Contains(s.run("capture-pane", "-p"), "Pane is dead")
		})
		return nil
	},
	"resize": func(s *lookScript, args []string) error { s.resize(args[0]); return nil },
	"option": func(s *lookScript, args []string) error {
		testserver.Run(s.t, s.srv, "set-option", "-g", args[0], args[1])
		return nil
	},
	"tmux": func(s *lookScript, args []string) error { s.run(args[0], args[1:]...); return nil },
	"until": func(s *lookScript, args []string) error {
		testserver.WaitScreen(s.t, s.srv, string(s.pane.ID), args[0])
		return nil
	},
	"forget": func(s *lookScript, _ []string) error { s.seen = nil; return nil },
	"look":   func(s *lookScript, _ []string) error { return s.see() },
	"new":    func(s *lookScript, args []string) error { return s.expect(args, "not missed") },
	"missed": func(s *lookScript, args []string) error { return s.expect(args, "missed") },
	"either": func(s *lookScript, args []string) error { return s.expect(args, "") },
	"rows": func(s *lookScript, args []string) error {
		return differ(strings.Trim(fmt.Sprint(s.last.NewRows), "[]"), strings.Join(args, " "))
	},
	"cursor": func(s *lookScript, args []string) error {
		row, line := s.last.CursorLine()
		return differ(fmt.Sprintf("%d %q", row, line), fmt.Sprintf("%s %q", args[0], args[1]))
	},
	"shift": func(s *lookScript, args []string) error {
		if shift := s.last.Shift; args[0] == "+" && shift != 0 && shift < 0 == s.last.Missed {
			return nil
		}
		return differ(strconv.Itoa(s.last.Shift), args[0])
	},
}

func number(text string) int { n, _ := strconv.Atoi(text); return n }

func differ(got, want string) error {
	if got != want {
		return fmt.Errorf("got %s, want %s", got, want)
	}
	return nil
}

// see looks, and checks the look against what is known about words.
func (s *lookScript) see() error {
	s.last = s.look()
	if s.last.Missed {
		s.printed = nil
	}
	for _, w := range regexp.MustCompile(`w[0-9]+\.`).FindAllString(strings.Join(s.last.New, "\n"), -1) {
		if s.told[w] && !s.last.Missed {
			return fmt.Errorf("%s is new twice", w)
		}
		s.told[w] = true
	}
	for _, w := range s.printed {
		if !s.told[w] {
			return fmt.Errorf("%s was lost silently", w)
		}
	}
	s.printed = nil
	return nil
}

// expect looks, and compares what is new.
func (s *lookScript) expect(args []string, how string) error {
	if err := s.see(); err != nil {
		return err
	}
	want := ""
	if len(args) > 0 {
		want = strings.TrimSuffix(cases.Expand(args[0]), "\n") + "\n"
	}
	got := ""
	for _, line := range s.last.New {
		got += line + "\n"
	}
	end, mayHaveMore := strings.CutPrefix(want, "…")
	same := got == end || mayHaveMore && s.last.Missed && strings.HasSuffix(got, end)
	if !same || s.last.Missed != (how == "missed") && how != "" {
		return fmt.Errorf("new %q, missed %t; want %q, %s", got, s.last.Missed, want, how)
	}
	return nil
}

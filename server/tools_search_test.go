package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// found is an answer of search_panes.
type found struct {
	Matches []struct {
		PaneID string   `json:"pane_id"`
		Lines  []string `json:"matched_lines"`
		Rows   []int    `json:"matched_rows"`
	} `json:"matches"`
	Total int `json:"total_panes_matched"`
}

// lines are the panes and their lines.
func (f found) lines() string {
	var all []string
	for _, m := range f.Matches {
		all = append(all, m.PaneID+" "+strings.Join(m.Lines, "|"))
	}
	return strings.Join(all, "; ")
}

func search(p *peer, pattern, more string) found {
	p.t.Helper()
	quoted, err := json.Marshal(pattern)
	if err != nil {
		p.t.Fatal(err)
	}
	return ok[found](p, "search_panes", `{"pattern":`+string(quoted)+more+`}`)
}

// Whether tmux narrows the panes down first or all are captured, the answer is
// the same, and no pattern runs anything.
func TestSearchIsTheSameOnBothPaths(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	mark := filepath.Join(t.TempDir(), "mark")
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "B", "err", "Error", "#", "#S", "##", "#{", "}", "#{pane_id}", "#(touch " + mark + ")", ",", "*", "?", "[", "]", "\\", "%H", "%", " ", "  ", ":", ";", "|", "$", "^", "x;", "ſ", "K", "ß", "é", "k", "S", "~", "-l", "\t", "'", "\"", "0", "1"}
	text := func(n int) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	for i, width := range []int{12, 42, 60, 80} {
		s := newScreen(t, srv, fmt.Sprint(i), width, 12)
		for range 5 {
			s.print(text(30) + "\n")
		}
	}
	p := serve(t, configFor(srv))
	matched := 0
	for range testtool.Size(40, 160) {
		pattern := text(4)
		if r.IntN(2) == 0 {
			// What is there: any piece of a line.
			lines := search(p, ".", `,"regex":true,"content_start":0`)
			l := lines.Matches[r.IntN(len(lines.Matches))].Lines
			line := []rune(l[r.IntN(len(l))])
			from := r.IntN(len(line))
			pattern = string(line[from:min(len(line), from+1+r.IntN(12))])
		}
		more := fmt.Sprintf(`,"match_case":%t`, r.IntN(2) == 0)
		fast, slow := search(p, pattern, more), search(p, pattern, more+`,"content_start":0`)
		if diff := cmp.Diff(slow.lines(), fast.lines()); diff != "" {
			t.Errorf("%q%s is found otherwise where tmux looks first (-slow +fast):\n%s", pattern, more, diff)
		}
		matched += slow.Total
	}
	if matched < 30 {
		t.Errorf("only %d matches: the test tries nothing", matched)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a pattern ran a shell command")
	}
}

func TestSearchWhilePanesEnd(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "keep")
	s := newScreen(t, srv, "a", 40, 6)
	s.print("token\n")
	p := serve(t, configFor(srv))
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Panes that are gone as soon as they are listed.
			testserver.Run(t, srv, "new-window", "-d", "-t", "=keep:", "echo token")
		}
	}()
	for range 25 {
		if got := search(p, "token", `,"content_start":0`); !strings.Contains(got.lines(), s.pane+" token") {
			t.Errorf("the lasting pane is not found: %s", got.lines())
		}
	}
	close(stop)
	<-done
}

// TestSearchRowsAreThoseOfCapture: what is found in a row is what capture_pane has
// there, however lines are wrapped, in the history and on the screen.
func TestSearchRowsAreThoseOfCapture(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	r := rand.New(rand.NewPCG(3, 4))
	var screens []*screen
	for i, width := range []int{10, 21, 60} {
		s := newScreen(t, srv, fmt.Sprint(i), width, 7)
		for range testtool.Size(25, 75) {
			var line strings.Builder
			for range r.IntN(30) {
				line.WriteString([]string{"a", "b ", "token", "\u5b57", "  ", "\t", "e\u0301", "\u001b[31mc", "\u001b[K"}[r.IntN(9)])
			}
			s.print(line.String() + "\n")
		}
		screens = append(screens, s)
	}
	screens[1].print("\u001b[3;1Htoken" + strings.Repeat("x", 30) + "\u001b[4;1H\u001b[K\u001b[7;1H")
	p := serve(t, configFor(srv))
	checked := 0
	check := func(more string) {
		t.Helper()
		got := search(p, "token", more)
		for _, m := range got.Matches {
			if len(m.Rows) != len(m.Lines) {
				t.Fatalf("%d rows of %d lines", len(m.Rows), len(m.Lines))
			}
			for i, row := range m.Rows {
				there := ok[map[string]any](p, "capture_pane", args(t, "pane_id", m.PaneID, "start", row, "end", row))["result"].(string)
				if !strings.HasPrefix(m.Lines[i], there) || there == "" && !strings.HasPrefix(m.Lines[i], " ") {
					t.Errorf("search%s in %s: row %d has %q, and is given for %q", more, m.PaneID, row, there, m.Lines[i])
				}
				checked++
			}
		}
	}
	ranges := []string{"", `,"content_start":-1000`, `,"content_start":-100000`, `,"content_start":-20,"content_end":-3`, `,"content_start":3`, `,"content_end":2`, `,"content_end":-2`, `,"content_start":-50,"content_end":99`, `,"content_start":99`, `,"content_start":4,"content_end":1`}
	for _, more := range ranges {
		check(more)
		check(more + `,"regex":true,"context":2`)
	}
	for _, id := range []string{"@0", "@2"} {
		testserver.Run(t, srv, "resize-window", "-t", id, "-x", "33", "-y", "9")
	}
	for _, more := range ranges {
		check(more)
	}
	if checked < 500 {
		t.Errorf("only %d lines were checked", checked)
	}
}

// No list of commands that a search sends holds tmux for long, whatever is on the screens
// and looked for: what large screens take is cut in several, and others are served in
// between.
func TestSearchHoldsTmuxShortly(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	const panes = 60
	window := tmux.Raw{Name: "new-window", Args: []string{"-d", "echo needle; exec cat"}}
	cmds := slices.Repeat([]tmux.Command{window}, panes)
	cmds[0] = tmux.Raw{Name: "new-session", Args: []string{"-d", "-x", "200", "-y", "100", "echo needle; exec cat"}}
	if _, err := srv.Do(testserver.Context(t), append([]tmux.Command{tmux.StartServer{}}, cmds...)...); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(srv)
	lists := countedTmux(t, &cfg)
	p := serve(t, cfg)
	testtool.Eventually(t, "all panes show it", func() bool { return search(p, "needle", "").Total == panes })
	for _, c := range []struct {
		pattern, more string
		want          int
	}{
		{"needless", "", 0},
		{"Needle", `,"match_case":true`, 0},
		{"needle", "", panes},
		{"ne+dles", `,"regex":true`, 0},
		{"zzz", `,"content_start":-2000`, 0},
	} {
		before := lists()
		got := search(p, c.pattern, c.more)
		n := lists() - before
		if n < 5 || got.Total != c.want {
			t.Errorf("%q%s is found in %d panes by %d lists, want %d by 5 at least", c.pattern, c.more, got.Total, n, c.want)
		}
	}
}

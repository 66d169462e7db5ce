package screen

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// screens makes panes whose screens are random: wrapped lines, also with a cleared end, tabs,
// wide characters, the alternate screen, copy mode. A hook of the user prints after each
// capture.
func screens(t *testing.T, srv *tmux.Server, r *rand.Rand, panes int) {
	t.Helper()
	ctx, dir := testserver.Context(t), t.TempDir()
	cmds := []tmux.Command{tmux.NewSession{Detached: true, Width: 20, Height: 6, Command: []string{"cat"}}}
	words := []string{"a", "b ", "Token", "token 7", "\u5b57", "\u017f", "K", "  ", "\t", "e\u0301", "\x1b[31mc", "\x1b[K", "\x1b[1K", "\n", "\n\n", "err: ", strings.Repeat("x", 17), "12345678901234567890"}
	drawn := []string{"\x1b[?1049h", "\x1b[3;1H", "\x1b[H", "\x1b[2;5H\x1b[K", "\x1b[J", "\x1b[1;20H\x1b[K", "\x1b[5;18H"}
	for i := range panes {
		var text strings.Builder
		for range r.IntN(60) {
			if r.IntN(12) == 0 {
				text.WriteString(drawn[r.IntN(len(drawn))])
			}
			text.WriteString(words[r.IntN(len(words))])
		}
		// Only this pane has it, at the end of a row or wrapped.
		fmt.Fprintf(&text, "\r\n\x1b[K%s<pane %%%d>", strings.Repeat(".", r.IntN(18)), i+1)
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(text.String()+"\x1b]2;drawn\a"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, tmux.NewWindow{Detached: true, Command: []string{"cat " + file + "; exec sleep 1000"}})
	}
	if _, err := srv.Do(ctx, cmds...); err != nil {
		t.Fatal(err)
	}
	testtool.Eventually(t, "all is drawn", func() bool {
		return strings.Count(testserver.Run(t, srv, "list-panes", "-a", "-F", "#{pane_title}"), "drawn") == panes
	})
	for i := range panes {
		switch r.IntN(9) {
		case 0:
			testserver.Run(t, srv, "copy-mode", "-t", fmt.Sprintf("%%%d", 1+i))
		case 1:
			testserver.Run(t, srv, "resize-window", "-t", fmt.Sprintf("@%d", 1+i), "-x", fmt.Sprint(5+r.IntN(40)), "-y", fmt.Sprint(2+r.IntN(9)))
		}
	}
	testserver.Run(t, srv, "set-hook", "-g", "after-capture-pane", "display-message -p 'a hook of the user'")
}

// TestSearchIsThatOfEachPane: what is found is what is in the joined lines of each pane by
// itself, however panes are captured, and while some of them end.
func TestSearchIsThatOfEachPane(t *testing.T) {
	t.Parallel()
	srv, r := testserver.New(t), rand.New(rand.NewPCG(5, 6))
	screens(t, srv, r, 2*mostPanes+groupSize/2)
	reader := &Reader{MatchTime: time.Minute}
	end, all := tmux.Line(3), -100
	counts := map[string]int{}
	number := func(p PaneMatch) (n int) {
		fmt.Sscanf(string(p.PaneID), "%%%d", &n)
		return n
	}
	for n := range testtool.Size(60, 500) {
		ctx := testserver.Context(t)
		panes, err := Candidates(ctx, srv, target.Object{})
		if err != nil {
			t.Fatal(err)
		}
		in := Query{MaxLines: 1000}
		switch r.IntN(4) {
		case 0:
			start := tmux.Line(all + r.IntN(105))
			in.Start = &start
		case 1:
			in.End = &end
		}
		if r.IntN(3) == 0 {
			from := r.IntN(len(panes))
			panes = panes[from:min(len(panes), from+1+r.IntN(3*groupSize))]
		}
		// What each pane shows.
		var shown [][]string
		var lines []string
		for group := range slices.Chunk(panes, 100) {
			var captures []tmux.Command
			for _, p := range group {
				captures = append(captures, in.capture(p))
			}
			outs, err := srv.Do(ctx, captures...)
			if err != nil {
				t.Fatal(err)
			}
			for _, out := range outs {
				shown = append(shown, Lines(out))
				lines = append(lines, shown[len(shown)-1]...)
			}
		}
		// A piece of a line, or something that many or few have.
		line := []rune(" no such text")
		if r.IntN(4) > 0 && len(lines) > 0 {
			line = []rune(lines[r.IntN(len(lines))] + " ")
		}
		from := r.IntN(len(line))
		pattern := string(line[from:min(len(line), from+1+r.IntN(12))])
		isRegex := r.IntN(2) == 0
		if r.IntN(3) == 0 {
			i := []int{0, mostPanes - 1, mostPanes, len(panes) - 1, r.IntN(len(panes))}[r.IntN(5)]
			pattern = fmt.Sprintf("<Pane %s>", panes[min(i, len(panes)-1)].PaneID)
		} else if isRegex {
			pattern = []string{regexp.QuoteMeta(pattern), `token \d`, "^$", `x{17}`, ".", "no such [t]ext", "[k]", `token|err:`, "a hook of", `^a\b`, "7$"}[r.IntN(11)]
		}
		m, err := match.New("pattern", pattern, isRegex, r.IntN(2) == 0)
		if err != nil {
			t.Fatal(err)
		}
		if n%10 == 9 { // Panes end that were listed.
			for range 3 {
				i := r.IntN(len(panes))
				_, _ = srv.Do(ctx, tmux.KillPane{Target: panes[i].PaneID})
				shown[i] = nil
			}
		}
		var want []string
		for i, p := range panes {
			look := match.Search{Most: time.Minute}
			found, err := look.Lines(ctx, m, shown[i])
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				want = append(want, fmt.Sprintf("%s %q", p.PaneID, found))
			}
		}
		found, err := reader.Matching(ctx, srv, panes, in, m)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(found, func(a, b PaneMatch) int { return cmp.Compare(number(a), number(b)) })
		matches, err := reader.Search(ctx, srv, found, in, m)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range matches {
			got = append(got, fmt.Sprintf("%s %q", p.PaneID, p.MatchedLines))
		}
		if len(found) != len(matches) || !slices.Equal(got, want) {
			t.Fatalf("%q (regex %t) from %v to %v is found in %d panes:\n%s\nwant\n%s", pattern, isRegex, in.Start, in.End, len(found), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		switch {
		case len(want) == 0:
			counts["nowhere"]++
		case len(want) < len(panes)/4:
			counts["in few panes"]++
		default:
			counts["in many panes"]++
		}
	}
	for _, where := range []string{"nowhere", "in few panes", "in many panes"} {
		if counts[where] < 5 {
			t.Errorf("%d patterns are found %s: the test tries little", counts[where], where)
		}
	}
}

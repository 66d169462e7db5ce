//go:build linux

package transcript

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"tmuxmcp/internal/test/paneprog"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

var runs = paneprog.NewRuns("TestTranscriptRandomPrograms", 200, 1000)

// mostMissed is the largest share of realistic programs of a kind whose transcript may be
// missed if the row on which they begin is known.
var mostMissed = map[string]float64{
	"plain": 0, "sgr": 0, "progress": 0, "tabs": 0, "wide": 0,
	"spinner": 0.05, "git": 0.05, "npm": 0.05, "cargo": 0.05, "pytest": 0.05, "prompt": 0.05, "wget": 0.05,
	"apt": 0.25, "docker": 0.25, "clear": 1, "pager": 1, "top": 1,
	"plain, resized": 0, "sgr, resized": 0, "progress, resized": 0, "tabs, resized": 0, "wide, resized": 0,
}

// TestTranscriptRandomPrograms writes the output of random programs into a pane with a
// history long enough for all of it, and compares the transcript with what tmux captures
// from the row on which the output begins, unless the transcript is missed. Some panes are
// resized meanwhile.
func TestTranscriptRandomPrograms(t *testing.T) {
	t.Parallel()
	if runs.Text != "" {
		p, err := paneprog.Parse(runs.Text)
		must(t, err)
		f := &feeder{srv: testserver.New(t)}
		what, _, err := f.differs(t.Context(), p)
		must(t, err)
		if what != "" {
			t.Fatal(what)
		}
		return
	}
	type share struct{ missed, of int }
	var mu sync.Mutex
	shares := map[string]*share{}
	const batch = 50 // programs in panes of one size
	speed := runs.Run(t, func() func(uint64) (func() string, error) {
		f := &feeder{srv: testserver.New(t)}
		t.Cleanup(func() { f.close(context.WithoutCancel(t.Context())) })
		return func(seed uint64) (func() string, error) {
			r := rand.New(rand.NewPCG(seed/batch, 1))
			columns, rows := paneprog.Size(r)
			r = rand.New(rand.NewPCG(seed, 2))
			kind := "random"
			var p paneprog.Program
			if seed%4 == 0 {
				kind = paneprog.Kinds[r.IntN(len(paneprog.Kinds))]
				columns = max(columns, 20)
				p = paneprog.Program{Columns: columns, Rows: rows, History: 60_000, Above: r.IntN(rows), Steps: paneprog.Realistic(r, kind, columns, rows)}
			} else {
				p = paneprog.GenerateOutput(r, columns, rows)
			}
			if r.IntN(4) == 0 {
				kind += resize(r, &p)
			}
			what, missed, err := f.differs(t.Context(), p)
			if err != nil {
				return nil, fmt.Errorf("%w\n%s", err, p)
			}
			mu.Lock()
			defer mu.Unlock()
			if shares[kind] == nil {
				shares[kind] = &share{}
			}
			shares[kind].of++
			if missed {
				shares[kind].missed++
			}
			if what == "" {
				return nil, nil
			}
			return func() string { return f.shrink(t.Context(), p, what) }, nil
		}
	})
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(shares)) {
		s := shares[kind]
		list = append(list, fmt.Sprintf("%s %d/%d", kind, s.missed, s.of))
		if most, ok := mostMissed[kind]; ok && float64(s.missed) > most*float64(s.of)+min(1, most*100) {
			t.Errorf("%d of %d transcripts of kind %s are missed, want %.0f%% at most", s.missed, s.of, kind, 100*most)
		}
	}
	t.Logf("missed: %s; %.0f programs a second", strings.Join(list, ", "), speed)
}

// TestPanesAreResetForTranscripts compares reused panes with new ones: what they show of a
// program comes from it alone.
func TestPanesAreResetForTranscripts(t *testing.T) {
	t.Parallel()
	used := &feeder{srv: testserver.New(t)}
	defer used.close(t.Context())
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(cmp.Or(runs.Seed, 7), seed))
		p := paneprog.GenerateOutput(r, 40, 8)
		got, err := used.show(t.Context(), p)
		if err != nil {
			t.Fatalf("%v in %s", err, p)
		}
		fresh := &feeder{srv: used.srv}
		want, err := fresh.show(t.Context(), p)
		if err != nil {
			t.Fatalf("%v in %s", err, p)
		}
		fresh.close(t.Context())
		if !slices.Equal(got, want) {
			t.Fatalf("a used pane shows\n%s\na new one\n%s\nof %s", strings.Join(got, "\n"), strings.Join(want, "\n"), p)
		}
	}
}

// A feeder writes output into a pane.
type feeder struct {
	srv           *tmux.Server
	pane          *paneprog.Pane
	columns, rows int
}

func (f *feeder) close(ctx context.Context) {
	if f.pane != nil {
		f.pane.Close(context.WithoutCancel(ctx))
		f.pane = nil
	}
}

// resize gives the pane another size while the program writes, and returns which.
func resize(r *rand.Rand, p *paneprog.Program) (what string) {
	size := paneprog.Step{Op: "size", A: p.Columns, B: 1 + r.IntN(2*p.Rows)}
	if what = ", resized"; r.IntN(2) == 0 {
		what = ", other width"
		size.A = max(len(above), 1+r.IntN(2*p.Columns))
	}
	if len(p.Steps) == 0 {
		return what
	}
	at := r.IntN(len(p.Steps))
	first, rest := p.Steps[at], p.Steps[at]
	first.A = r.IntN(first.A + 1)
	rest.A -= first.A
	moved := []paneprog.Step{paneprog.Out(""), size, paneprog.Out("")} // the cursor may be anywhere by then
	if r.IntN(3) == 0 {
		place := func() string {
			n := 1 + r.IntN(p.Rows)
			return []string{fmt.Sprintf("\x1b[%dA", 1+r.IntN(min(n, 4))), fmt.Sprintf("\x1b[%d;1H", n), fmt.Sprintf("\x1b[%dd", n), "\x1b7", "\x1b8", "\x1b[H\x1b[J", "\x1b[M", "\x1b[?1049h", "\x1b[?1049l"}[r.IntN(9)]
		}
		moved[0].Text, moved[2].Text = place(), place()
		what += " elsewhere"
	}
	p.Steps = slices.Concat(p.Steps[:at], []paneprog.Step{first}, moved, []paneprog.Step{rest}, p.Steps[at+1:])
	return what
}

// settled ends what output may have begun, as the pane does before it is resized.
const settled = "\x18\x1b\\"

// outputOf returns what a program writes. A character cut off at its end is omitted: what
// tmux makes of it depends on what follows.
func outputOf(p paneprog.Program) (before, after string, resized *paneprog.Step) {
	n := 0
	word := func() string { n++; return paneprog.Word(n - 1) }
	at := slices.IndexFunc(p.Steps, func(s paneprog.Step) bool { return s.Op == "size" })
	if at < 0 {
		return whole(paneprog.Expand(word, p.Steps...)), "", nil
	}
	before = paneprog.Expand(word, p.Steps[:at]...)
	return before, whole(paneprog.Expand(word, p.Steps[at+1:]...)), &p.Steps[at]
}

func whole(out string) string {
	for len(out) > 0 && out[len(out)-1] >= utf8.RuneSelf {
		if r, size := utf8.DecodeLastRuneInString(out); r != utf8.RuneError || size > 1 {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// show returns the lines of a blank pane, from the row on which output was written into it.
func (f *feeder) show(ctx context.Context, p paneprog.Program) ([]string, error) {
	before, after, resized := outputOf(p)
	var err error
	if f.pane != nil && f.columns == p.Columns && f.rows == p.Rows {
		if err = f.pane.Reset(ctx); err != nil {
			return nil, err
		}
	} else {
		f.close(ctx)
		if f.pane, err = paneprog.Open(ctx, f.srv, p); err != nil {
			return nil, err
		}
		f.columns, f.rows = p.Columns, p.Rows
	}
	id := string(f.pane.ID)
	state := tmux.Raw{Name: "display-message", Args: []string{"-p", "-t", id,
		"#{cursor_x},#{cursor_y},#{history_size},#{alternate_on},#{scroll_region_upper},#{scroll_region_lower},#{wrap_flag},#{insert_flag},#{origin_flag},#{pane_width},#{pane_height}"}}
	capture := func(from int) tmux.Raw {
		return tmux.Raw{Name: "capture-pane", Args: []string{"-p", "-J", "-S", strconv.Itoa(from), "-t", id}}
	}
	out, err := f.srv.Do(ctx, state, capture(0))
	if err != nil {
		return nil, err
	}
	want := fmt.Sprintf("0,0,0,0,0,%d,1,0,0,%d,%d", p.Rows-1, p.Columns, p.Rows)
	if got := strings.TrimSpace(string(out[0])); got != want || strings.TrimSpace(string(out[1])) != "" {
		return nil, fmt.Errorf("the pane is not blank: %s, want %s, with\n%s", got, want, out[1])
	}
	// Only a new pane forgets the cursor that the alternate screen saves.
	output := before + after
	if resized != nil || strings.Contains(output, "\x1b[?") && (strings.Contains(output, "47") || strings.Contains(output, "1049")) {
		defer f.close(ctx)
	}
	if err := f.pane.Write(strings.Repeat(above[:min(len(above), p.Columns)]+"\r\n", p.Above) + before); err != nil {
		return nil, err
	}
	if resized != nil {
		if err = f.pane.Do(ctx, *resized); err == nil {
			err = f.pane.Write(after)
		}
		if err != nil {
			return nil, err
		}
	}
	if out, err = f.srv.Do(ctx, state, capture(p.Above)); err != nil {
		return nil, err
	}
	history, err := strconv.Atoi(strings.Split(string(out[0]), ",")[2])
	if err != nil {
		return nil, err
	}
	if history > 0 {
		if out, err = f.srv.Do(ctx, state, capture(p.Above-history)); err != nil {
			return nil, err
		}
	}
	return trimLines(strings.Split(string(out[1]), "\n")), nil
}

const above = "above"

// alike returns lines without what depends on the version of tmux: before 3.6 a tab is
// blanks, and before 3.4 there is a blank where a wide character did not fit into a row.
func (f *feeder) alike(ctx context.Context, output string, lines []string) ([]string, error) {
	v, err := f.srv.Version(ctx)
	ascii := !strings.ContainsFunc(output, func(c rune) bool { return c >= utf8.RuneSelf })
	if err != nil || v.Has(tmux.Version{Major: 3, Minor: 6}) || !strings.Contains(output, "\t") && (ascii || v.Has(tmux.Version{Major: 3, Minor: 4})) {
		return trimLines(lines), err
	}
	lines = slices.Clone(lines)
	for i, l := range lines {
		lines[i] = strings.NewReplacer(" ", "", "\t", "").Replace(l)
	}
	return trimLines(lines), nil
}

// trimLines removes blanks at the ends of lines, and blank lines at the end.
func trimLines(lines []string) []string {
	lines = slices.Clone(lines)
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// differs describes how the transcript of a program differs from what a pane shows, if at
// all. missed is for a known start.
func (f *feeder) differs(ctx context.Context, p paneprog.Program) (what string, missed bool, err error) {
	output, after, resized := outputOf(p)
	columns, rows := p.Columns, p.Rows
	if resized != nil {
		output += settled + after
		columns, rows = resized.A, resized.B
	}
	want, err := f.show(ctx, p)
	if err == nil {
		want, err = f.alike(ctx, output, want)
	}
	if err != nil {
		return "", false, err
	}
	for _, start := range []int{p.Above, -1} {
		lines, tr := transcribed(p.Columns, p.Rows, start, []byte(output))
		m := !tr.Holds(columns, rows)
		if start >= 0 {
			missed = m
		}
		for i, l := range lines {
			if strings.HasSuffix(l, " ") && !m && !strings.Contains(output, " ") {
				return fmt.Sprintf("from row %d, line %d ends with blanks that were not written: %q", start, i, l), missed, nil
			}
		}
		got, err := f.alike(ctx, output, lines)
		if err != nil {
			return "", false, err
		}
		if !m && !slices.Equal(got, want) && what == "" {
			what = fmt.Sprintf("the transcript from row %d of %q is\n    %s\n  the pane shows\n    %s", start, output, strings.Join(got, "\n    "), strings.Join(want, "\n    "))
		}
	}
	return what, missed, nil
}

// shrink describes a failure by the shortest program that fails.
func (f *feeder) shrink(ctx context.Context, p paneprog.Program, what string) string {
	p = paneprog.Shrink(p, runs.Shrink, func(q paneprog.Program) bool {
		if q.Above >= q.Rows || q.History < 10_000 {
			return false
		}
		w, _, err := f.differs(ctx, q)
		if err != nil || w == "" {
			return false
		}
		what = w
		return true
	})
	return fmt.Sprintf("%s\nTMUX_TEST_BINARY=%s go test ./internal/transcript -run TestTranscriptRandomPrograms -program '%s'", what, f.srv.Binary(), p)
}

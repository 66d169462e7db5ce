package conform

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// A tmux that is wrong in one way turns the cells of that gap, and no others: at full size all
// of its suite are tried, else those of the gap itself. The wrong ones are the scripts in
// testdata/broken.
func TestBrokenTmux(t *testing.T) {
	t.Parallel()
	real := testserver.Binary(t)
	files, err := filepath.Glob("testdata/broken/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	gaps := lastingSuites(t)
	targets, err := resolve(t.Context(), []string{real}, nil)
	if err != nil {
		t.Fatal(err)
	}
	version, err := tmux.ParseVersion(targets[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	var wrong, here []brokenTmux // all, and those that are wrong for this version
	for _, file := range files {
		w := readBroken(t, file, real)
		if wrong = append(wrong, w); version.Has(w.needs) && (w.before == tmux.Version{} || !version.Has(w.before)) {
			here = append(here, w)
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Skipf("%s is not wrong for tmux %s (needs %v, before %v): set TMUX_TEST_BINARY to one for which it is", w.name, version, w.needs, w.before)
		})
	}
	for _, g := range gaps {
		if !slices.ContainsFunc(wrong, func(w brokenTmux) bool { return w.gap == g.Number }) {
			t.Errorf("no tmux is wrong about gap %d", g.Number)
		}
	}
	if !testtool.Full {
		all, allGaps := len(here), len(gaps)
		here = sampleBroken(here)
		gaps = slices.DeleteFunc(gaps, func(g *Gap) bool {
			return !slices.ContainsFunc(here, func(w brokenTmux) bool {
				return w.gap == g.Number || slices.ContainsFunc(w.turns, func(cell string) bool { return strings.HasPrefix(cell, fmt.Sprintf("%d/", g.Number)) })
			})
		})
		t.Logf("%d of %d wrong tmuxes, on %d of %d gaps only; TMUX_TEST_FULL=1 runs all", len(here), all, len(gaps), allGaps)
	}
	result := mustRun(t, Options{Targets: targets, Gaps: gaps})
	for _, c := range result.Cells {
		if c.Status != report.Pass && c.Status != report.NotApplicable {
			t.Fatalf("the real tmux: gap %d, layer %s: %s: %s\n%v", c.Gap, c.Layer, c.Status, c.Reason, c.Evidence)
		}
	}
	for _, w := range here {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			target := targets[0] // -V is the real one's
			target.Name, target.Path = w.name, w.path
			var turned, why []string
			for _, want := range result.Cells {
				cell := fmt.Sprintf("%d/%s", want.Gap, want.Layer)
				sameSuite := want.Gap/100 == w.gap/100 // each has a hundred of its own
				if want.Gap != w.gap && !slices.Contains(w.turns, cell) && !(testtool.Full && sameSuite) {
					continue
				}
				timeout := unhurried
				if slices.Contains(w.turns, cell) {
					timeout = inVain
				}
				at := slices.IndexFunc(gaps, func(g *Gap) bool { return g.Number == want.Gap })
				c := runGap(t, gaps[at], Options{Targets: []report.Target{target}, Layers: []report.Layer{want.Layer}, Timeout: timeout})
				if c.Status != want.Status || c.Verdict != want.Verdict {
					turned = append(turned, cell)
					why = append(why, fmt.Sprintf("%s: %s %s: %s", cell, c.Status, c.Verdict, c.Reason))
					if want.Gap == w.gap && slices.ContainsFunc(c.Claims, func(cl report.Claim) bool { return cl.Outcome == report.Blocked }) {
						t.Errorf("%s: what is wrong is taken for a part of the set-up: %s", cell, c.Reason)
					}
					if c.Status != report.Fail || len(c.Evidence) == 0 {
						t.Errorf("%s: %s, want fail with evidence: %s", cell, c.Status, c.Reason)
					}
				}
			}
			if !slices.Equal(turned, w.turns) {
				t.Errorf("turns %q, want %q", turned, w.turns)
			}
			t.Log(strings.Join(why, "\n"))
		})
	}
}

const (
	// unhurried is the time for a script that is to pass, on a busy machine too. It
	// ends with what it waits for.
	unhurried = 5 * time.Minute
	// inVain is the time for a script that is to fail: a quarter of it goes by for what
	// never comes.
	inVain = 20 * time.Second
)

// lastingSuites returns the gaps of all suites, whose panes outlive the minute that is
// enough for them on a machine that is not busy.
func lastingSuites(t *testing.T) []*Gap {
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range gaps {
		lasting, err := gap.Parse(g.Name+".txtar", bytes.ReplaceAll(g.Text, []byte("sleep 60"), []byte("sleep 3600")))
		if err != nil {
			t.Fatal(err)
		}
		lasting.Suite, gaps[i] = g.Suite, lasting
	}
	return gaps
}

// sampleBroken returns those that are the first, of all about their suite, to turn a layer.
func sampleBroken(all []brokenTmux) (some []brokenTmux) {
	seen := map[string]bool{}
	for _, w := range all {
		first := false
		for _, cell := range w.turns {
			_, layer, _ := strings.Cut(cell, "/")
			kind := fmt.Sprintf("%d/%s", w.gap/100, layer) // each suite has a hundred of its own
			first = first || !seen[kind]
			seen[kind] = true
		}
		if first {
			some = append(some, w)
		}
	}
	return some
}

// unpack is what every such script begins with.
//
//go:embed testdata/unpack.sh
var unpack string

// brokenTmux is one of the scripts, made executable.
type brokenTmux struct {
	name, path string
	gap        int
	turns      []string // cells, "3/api"
	needs      tmux.Version
	before     tmux.Version
}

var brokenField = regexp.MustCompile(`(?m)^# (turns|needs|before): (.*)$`)

func readBroken(t *testing.T, file, binary string) brokenTmux {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := brokenTmux{name: strings.TrimSuffix(filepath.Base(file), ".sh"), path: filepath.Join(t.TempDir(), "tmux")}
	number, _, _ := strings.Cut(w.name, "-")
	if w.gap, err = strconv.Atoi(number); err != nil {
		t.Fatal(err)
	}
	for _, m := range brokenField.FindAllSubmatch(text, -1) {
		if bound := map[string]*tmux.Version{"needs": &w.needs, "before": &w.before}[string(m[1])]; bound != nil {
			if *bound, err = tmux.ParseVersion(string(m[2])); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for layer := range strings.FieldsSeq(string(m[2])) {
			if !strings.Contains(layer, "/") {
				layer = fmt.Sprintf("%d/%s", w.gap, layer)
			}
			w.turns = append(w.turns, layer)
		}
	}
	if !strings.HasSuffix(string(text), "\nexec \"$real\" \"$@\"\n") {
		t.Fatalf("%s does not end in the real tmux", file)
	}
	if err := testtool.WriteProgram(w.path, []byte("#!/bin/sh\n"+unpack+"real='"+binary+"'\n"+string(text))); err != nil {
		t.Fatal(err)
	}
	return w
}

package conform

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/fixtures"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// A tmux that is wrong in one way turns the cells of that gap, and no others.
// The wrong ones are the scripts in testdata/broken.
func TestBrokenTmux(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute: not in short mode")
	}
	binary := tmuxtest.Binary(t)
	files, err := filepath.Glob("testdata/broken/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	specs := []string{"real=" + binary}
	var wrong []brokenTmux
	for _, file := range files {
		w := readBroken(t, file, binary)
		wrong = append(wrong, w)
		specs = append(specs, w.name+"="+w.path)
	}
	targets, err := ResolveTargets(context.Background(), specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	gaps, err := LoadGaps(fixtures.Gaps())
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{Targets: targets, Gaps: gaps, Child: child(t)})
	if err != nil {
		t.Fatal(err)
	}
	// turned are the cells that differ from the real tmux's.
	turned := func(target string) (cells, why []string) {
		for _, c := range report.Cells {
			real := report.Cell(c.Gap, "real", c.Layer)
			if c.Tmux == target && (c.Status != real.Status || c.Verdict != real.Verdict) {
				cells = append(cells, fmt.Sprintf("%d/%s", c.Gap, c.Layer))
				why = append(why, fmt.Sprintf("%d/%s: %s %s: %s", c.Gap, c.Layer, c.Status, c.Verdict, c.Reason))
				if c.Status != Fail || len(c.Evidence) == 0 {
					t.Errorf("%s: gap %d, layer %s: %s, want fail with evidence: %s", target, c.Gap, c.Layer, c.Status, c.Reason)
				}
			}
		}
		return cells, why
	}
	for _, c := range report.Cells {
		if c.Tmux == "real" && c.Status != Pass && c.Status != NotApplicable {
			t.Fatalf("the real tmux: gap %d, layer %s: %s: %s\n%v", c.Gap, c.Layer, c.Status, c.Reason, c.Evidence)
		}
	}
	version, err := tmux.ParseVersion(targets[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Run(w.name, func(t *testing.T) {
			if !version.Has(w.needs) {
				t.Skipf("tmux %s has nothing to break here before %s: set TMUX_TEST_BINARY to one that has", version, w.needs)
			}
			if cells, why := turned(w.name); !slices.Equal(cells, w.turns) {
				t.Errorf("turns %q, want %q\n%s", cells, w.turns, strings.Join(why, "\n"))
			}
		})
	}
	for gap := range 14 {
		if !slices.ContainsFunc(wrong, func(w brokenTmux) bool { return w.gap == gap+1 }) {
			t.Errorf("no tmux is wrong about gap %d", gap+1)
		}
	}
}

// brokenTmux is one of the scripts, made executable.
type brokenTmux struct {
	name, path string
	gap        int
	turns      []string // cells, "3/api"
	needs      tmux.Version
}

var brokenField = regexp.MustCompile(`(?m)^# (turns|needs): (.*)$`)

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
		if string(m[1]) == "needs" {
			if w.needs, err = tmux.ParseVersion(string(m[2])); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for layer := range strings.FieldsSeq(string(m[2])) {
			w.turns = append(w.turns, fmt.Sprintf("%d/%s", w.gap, layer))
		}
	}
	script := slices.Concat([]byte("#!/bin/sh\nreal='"+binary+"'\n"), bytes.TrimPrefix(text, []byte("#!/bin/sh\n")))
	if err := os.WriteFile(w.path, script, 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

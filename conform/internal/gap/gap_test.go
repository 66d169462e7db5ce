package gap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tmuxmcp/conform/report"
)

// The command carries the 14 gaps of the issue, each with a script for every layer
// there is, and other suites, each with numbers of its own.
func TestShippedGaps(t *testing.T) {
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int]string{}
	for i, g := range gaps {
		texts := map[string]string{"title": g.Title, "claim": g.Claim, "truth": g.Truth, "source": g.Source, "since": g.Since, "wrappers": g.Wrappers}
		first := 100 * slices.IndexFunc(report.Suites(), func(s report.Suite) bool { return s.Name == g.Suite })
		layers := []report.Layer{report.TmuxLayer}
		if g.Suite == "670" {
			delete(texts, "since")
			delete(texts, "wrappers")
			texts["cluster"] = g.Cluster
			layers = report.Layers()
			if g.Number != i+1 {
				t.Errorf("gap %d is missing", i+1)
			}
		}
		if g.Number <= first || g.Number > first+99 {
			t.Errorf("%s: want a number between %d and %d for suite %s", g.Name, first+1, first+99, g.Suite)
		}
		if other := numbers[g.Number]; other != "" {
			t.Errorf("%s and %s have the same number", g.Name, other)
		}
		numbers[g.Number] = g.Name
		for name, text := range texts {
			if text == "" {
				t.Errorf("%s has no %s", g.Name, name)
			}
		}
		for _, l := range layers {
			if g.Section(l) == nil {
				t.Errorf("%s has no script for layer %s", g.Name, l)
			}
		}
		claims := 0
		for _, r := range g.Rules() {
			if r.NotApplicable == "" {
				claims++
			}
		}
		n := 0
		for _, l := range g.Layers() {
			for _, line := range Lines(string(g.Section(l))) {
				if line.Command == "claim" || line.Command == "extra" {
					n++
				}
			}
		}
		if claims != n {
			t.Errorf("%s: %d of %d claims have a rule", g.Name, claims, n)
		}
	}
	if n := len(gaps); numbers[14] == "" || numbers[15] != "" || n < 14+16 {
		t.Errorf("%d scripts, want 14 in suite 670 and at least 16 in the others", n)
	}
	if _, err := LoadSuites("releases", "qouting"); err == nil || err.Error() != `unknown suite "qouting": want 670, releases, quoting, agents, control or all` {
		t.Errorf("%v", err)
	}
}

// What a condition's versions are in words.
func TestRules(t *testing.T) {
	g, err := Parse("01-test.txtar", []byte("# gap: a test\n# claim: a claim\n-- tmux --\n"+
		"[!tmux:3.4] na 'too old'\n[tmux:3.4] [!tmux:3.6] claim refuted 'a'\n['tmux:>=3.7 <3.7c'] claim confirmed 'b'\n['!tmux:=3.7'] claim confirmed 'c'\nclaim confirmed 'd'\n-- api --\nclaim 'it''s e'\n[tmux:3.4] extra f\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range g.Rules() {
		got = append(got, r.Versions+": "+r.Says())
	}
	want := []string{"before 3.4: n/a: too old", "from 3.4, before 3.6: refuted: a", ">=3.7 <3.7c: confirmed: b", "not 3.7: confirmed: c", ": confirmed: d", ": asked: it's e", "from 3.4: extra: f"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestParseGap(t *testing.T) {
	const good = "# gap: a title\n# claim: one\n#   two\n#\n# truth: three\n-- tmux --\nstop\n-- more --\nx\n-- api --\nstop\n"
	g, err := Parse("dir/07-a-name.txtar", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%d %s|%s|%s|%s|%v", g.Number, g.Name, g.Title, g.Claim, g.Truth, g.Layers()); got != "7 07-a-name|a title|one two|three|[tmux api]" {
		t.Error(got)
	}
	// The script is at the same lines as in the file.
	if got := string(g.Script(report.APILayer)); got != strings.Repeat("\n", 10)+"stop\n-- more --\nx\n" {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct{ file, text, want string }{
		{"07-a.txtar", good + "api a\nclaim b\napi c\nextra b\n", `07-a.txtar: layer api: "b" is both a claim and an extra`},
		{"name.txtar", good, "the name of a gap is a number and words"},
		{"07-a.txtar", "# gap: a\n# claims: b\n-- tmux --\n", "07-a.txtar:2: not a field"},
		{"07-a.txtar", "tmux kill-server\n-- tmux --\n", "07-a.txtar:1: not a field"},
		{"07-a.txtar", "# gap: a\n-- tmux --\n", `lacks "# gap:" or "# claim:"`},
		{"07-a.txtar", "# gap: a\n# claim: b\n", "no script"},
		{"07-a.txtar", "# gap: a\n# claim: b\n-- tmx --\n", "no script"},
		{"07-a.txtar", "", "lacks"},
	} {
		if _, err := Parse(tt.file, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
	for name, fsys := range map[string]fstest.MapFS{
		"both gap 7": {"07-a.txtar": {Data: []byte(good)}, "7-b.txtar": {Data: []byte(good)}},
		"no gaps":    {"readme": {}},
	} {
		if _, err := Load(fsys); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// No probe is masked: where a claim has several, each says something whatever it shows, or
// the claim would go by the others. A script that lets one show nothing of what it looks for
// asserts before, with stdout, what there can be.
func TestProbesDecide(t *testing.T) {
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gaps {
		for _, open := range openProbes(string(g.Section(report.TmuxLayer))) {
			t.Errorf("%s: it may say nothing: %s", g.Name, open)
		}
	}
	const script = "tmux a\n[stdout:x] saw confirmed 'x'\n[!stdout:x] saw refuted 'not x'\n" +
		"try tmux b\n[failed] saw refuted 'fails'\n[ok] tmux c\n[stdout:x] saw confirmed 'x'\n['stdout:y z'] saw refuted 'y'\n" +
		"try tmux d\n['stderr:x'] saw refuted 'x'\n[ok] saw confirmed 'well'\ntmux e\nstdout 'x|y'\n[stdout:x] saw confirmed 'x'\n" +
		"[tmux:3.6] claim refuted 'one'\n[!tmux:3.6] claim confirmed 'one'\ntmux f\n[stdout:x] saw refuted 'alone'\nclaim refuted 'two'\n"
	if got := openProbes(script); !slices.Equal(got, []string{"[ok] tmux c", "try tmux d"}) {
		t.Errorf("%q", got)
	}
}

// openProbes returns the commands whose outcome may be one that a script draws no conclusion
// from, if another command speaks for the same claim.
func openProbes(script string) (open []string) {
	type probe struct {
		line   string
		sure   bool     // something is said of any outcome that gets past it
		saw    bool     // something is said of it
		shown  []string // the conditions under which something is said
		within string   // the condition that it runs under
	}
	var probes []*probe
	claimed := false
	for _, line := range Lines(script) {
		if line.Command == "" {
			continue
		}
		shown := ""
		for _, w := range line.Conditions {
			if c := strings.Trim(strings.ReplaceAll(w, "'", ""), "[]"); !strings.Contains(c, "tmux:") {
				shown = strings.TrimPrefix(shown+" "+c, " ")
			}
		}
		last := &probe{}
		if len(probes) > 0 {
			last = probes[len(probes)-1]
		}
		switch line.Command {
		case "claim":
			if claimed {
				continue
			}
			claimed = true
			said := slices.DeleteFunc(probes, func(p *probe) bool { return !p.saw })
			for _, p := range said {
				if len(said) > 1 && !p.sure && !complementary(p.shown) {
					open = append(open, p.line)
				}
			}
			probes = nil
			continue
		case "tmux", "control", "try", "wait-until", "exec":
			if shown != "" && last.saw {
				last.shown = append(last.shown, shown) // what follows says something
			}
			probes = append(probes, &probe{line: line.Text, within: shown})
			if words := line.Words; line.Command == "wait-until" && len(words) > 1 {
				probes[len(probes)-1].shown = []string{"!stdout:" + strings.ReplaceAll(words[1], "'", "")} // does not get past it
			}
		case "stdout", "stderr":
			last.sure = last.sure || shown == last.within
		case "saw":
			last.saw = true
			last.sure = last.sure || shown == ""
			if last.within != "" {
				shown = strings.TrimPrefix(shown, last.within+" ")
			}
			last.shown = append(last.shown, shown)
		}
		claimed = false
	}
	return open
}

// complementary reports whether one of the conditions holds whatever there is.
func complementary(conditions []string) bool {
	for _, c := range conditions {
		kind, text, ok := strings.Cut(strings.TrimPrefix(c, "!"), ":")
		if c == "ok" && slices.Contains(conditions, "failed") || c == "!"+kind+":"+text && ok && (slices.Contains(conditions, kind+":"+text) ||
			!slices.ContainsFunc(strings.Split(text, "|"), func(part string) bool { return !slices.Contains(conditions, kind+":"+part) })) {
			return true
		}
	}
	return false
}

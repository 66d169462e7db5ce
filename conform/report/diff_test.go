package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/cases"
)

func TestDiff(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/diff.txtar", "from", "to", "worse") {
		t.Run(c.Name, func(t *testing.T) {
			d := Compare(resultsReport(strings.Fields(c.One("from"))...), resultsReport(strings.Fields(c.One("to"))...))
			var buf bytes.Buffer
			if err := WriteDiff(&buf, "text", d, Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Texts["diff"], buf.String()); diff != "" || fmt.Sprint(d.Worse()) != c.One("worse") {
				t.Errorf("worse: %v (-want +got):\n%s", d.Worse(), diff)
			}
			text, err := json.Marshal(d)
			if err != nil || bytes.Contains(text, []byte("null")) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// claimsReport returns a report with a cell for each of some targets, with outcomes as in
// "true", or "refuted it dies", for its claims.
func claimsReport(cells map[string][]string) *Report {
	r := &Report{Gaps: []GapInfo{{Number: 106, Title: "bytes"}}}
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		r.Targets = append(r.Targets, Target{Name: name, Version: name})
		c := Cell{Gap: 106, Layer: TmuxLayer, Tmux: name, Transport: "exec", Status: Pass, Verdict: Refuted}
		for i, outcome := range cells[name] {
			what, why, _ := strings.Cut(outcome, " ")
			if outcome == string(NotReached) || outcome == string(NotOffered) {
				what, why = outcome, ""
			}
			cl := Claim{Number: i + 1, Text: string(rune('A' + i)), Outcome: Outcome(what), Why: why}
			if cl.Outcome.Failed() {
				c.Status, c.Reason = Fail, why
			}
			c.Claims = append(c.Claims, cl)
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// A claim that changes is a change, whatever its cell's verdict is.
func TestDiffOfClaims(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to []string
		want     string
		worse    bool
	}{
		{"another verdict", []string{"true", "refuted no -S"}, []string{"refuted it dies", "true"},
			"Changed 1: true → refuted: it dies; Changed 2: refuted → true", false},
		{"seen otherwise", []string{"refuted it dies"}, []string{"refuted it hangs"}, "Changed 1: refuted: it dies → it hangs", false},
		{"one of two", []string{"true", "true"}, []string{"true", "open x"}, "Worse 2: true → open: x", true},
		{"a crash", []string{"open 1.txtar:3: x", "not reached"}, []string{"crash it died", "not reached"}, "Worse 1: open → crash: it died", true},
		{"another line and number", []string{"open 1.txtar:3: pid 17"}, []string{"open 1.txtar:4: pid 18"}, "", false},
		{"another reason", []string{"open x"}, []string{"open y"}, "Changed 1: open: x → y", false},
		{"behind a failure", []string{"true", "true"}, []string{"blocked set-up: x", "not reached"}, "Worse 1: true → blocked: set-up: x; Worse 2: true → not reached", true},
		{"not offered any more", []string{"true", "open x"}, []string{"not offered", "not offered"}, "Worse 1: true → not offered; Changed 2: open → not offered", true},
		{"offered now", []string{"not offered", "not offered"}, []string{"true", "open x"}, "Better 1: not offered → true; Changed 2: not offered → open: x", false},
		{"skipped", []string{"true", "open x"}, []string{"skip", "skip"}, "Worse 1: true → skip; Changed 2: open → skip", true},
		{"a claim more, which fails", []string{"true"}, []string{"true", "open x"}, "New 2: open: x", false},
		{"a claim more", []string{"true"}, []string{"true", "true"}, "New 2: true", false},
		{"a claim for other versions", []string{"true"}, []string{"true", "n/a"}, "", false},
		{"a claim for this version", []string{"true", "n/a"}, []string{"true", "true"}, "Changed 2: n/a → true", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Compare(claimsReport(map[string][]string{"3.6a": tt.from}), claimsReport(map[string][]string{"3.7c": tt.to}))
			var got []string
			for _, p := range d.parts() {
				for _, text := range p.Changes {
					_, text, _ = strings.Cut(text, "106/tmux/")
					number, text, _ := strings.Cut(text, ", tmux 3.6a → 3.7c (bytes): ")
					_, text, _ = strings.Cut(text, ": ")
					got = append(got, p.Heading+" "+number+": "+text)
				}
			}
			if strings.Join(got, "; ") != tt.want || d.Worse() != tt.worse {
				t.Errorf("%q, worse %v; want %q", got, d.Worse(), tt.want)
			}
		})
	}
}

// A tool that is not offered any more is worse for the server that had it, which is known by
// its name or else its command; two servers differ in what they offer.
func TestDiffOfServers(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b Report
		want string
	}{
		{"the built-in one", Report{}, Report{}, Worse},
		{"one command", Report{Server: "a -x"}, Report{Server: "a -x"}, Worse},
		{"one name", Report{Server: "a@1", ServerName: "a"}, Report{Server: "a@2", ServerName: "a"}, Worse},
		{"two names", Report{Server: "a", ServerName: "a"}, Report{Server: "a", ServerName: "b"}, Changed},
		{"two commands", Report{Server: "a"}, Report{Server: "b"}, Changed},
		{"another than the built-in one", Report{}, Report{Server: "b", ServerName: "b"}, Changed},
	} {
		for r, outcome := range map[*Report]string{&tt.a: "true", &tt.b: "not offered"} {
			cells := claimsReport(map[string][]string{"3.6a": {outcome}})
			r.Targets, r.Gaps, r.Cells = cells.Targets, cells.Gaps, cells.Cells
		}
		if d := Compare(&tt.a, &tt.b); len(d.Changes) != 1 || d.Changes[0].Change != tt.want || d.Worse() != (tt.want == Worse) {
			t.Errorf("%s: %+v, want %s", tt.name, d.Changes, tt.want)
		}
		if d := Compare(&tt.b, &tt.a); len(d.Changes) != 1 || d.Changes[0].Change == Worse {
			t.Errorf("%s, the other way round: %+v", tt.name, d.Changes)
		}
	}
}

// Two runs whose scripts differ compare as if tmux had changed: that is said first.
func TestDiffOfScripts(t *testing.T) {
	one := claimsReport(map[string][]string{"3.6a": {"true"}})
	two := claimsReport(map[string][]string{"3.6a": {"open x"}})
	for digests, want := range map[[2]string]string{
		{"a", "a"}: "Worse\n", {"", "a"}: "Worse\n",
		{"a", "b"}: "the scripts differ: 106: what changed there may be the script and not tmux\n\nWorse\n",
	} {
		one.Gaps[0].Digest, two.Gaps[0].Digest = digests[0], digests[1]
		for _, format := range []string{"text", "markdown"} {
			var buf bytes.Buffer
			if err := WriteDiff(&buf, format, Compare(one, two), Style{}); err != nil {
				t.Fatal(err)
			}
			if got := buf.String(); format == "text" && !strings.HasPrefix(got, want) || strings.Contains(got, "the scripts differ: 106: ") != (digests[1] == "b") {
				t.Errorf("%v: %s, want %s", digests, got, want)
			}
		}
	}
}

// Targets are the same by what they are, and not by their order or version alone.
func TestPairTargets(t *testing.T) {
	target := func(s string) Target { // NAME VERSION PATH
		f := strings.Fields(s)
		return Target{Name: f[0], Version: f[1], Path: f[2]}
	}
	for _, tt := range []struct{ name, a, b, want string }{
		{"the same", "3.6a 3.6a /a, 3.7c 3.7c /b", "3.7c 3.7c /b, 3.6a 3.6a /a", "3.6a=3.6a 3.7c=3.7c"},
		{"two of one version", "3.6a 3.6a /a, 3.6a#2 3.6a /b", "3.6a 3.6a /b, 3.6a#2 3.6a /a", "3.6a=3.6a#2 3.6a#2=3.6a"},
		{"a name counts more than a version", "mine 3.6a /a, 3.7c 3.7c /b", "mine 3.7c /b, 3.6a 3.6a /a", "mine=mine 3.7c=3.6a"},
		{"other names are others", "mine 3.6a /a, 3.8 3.8 /c", "yours 3.6a /a, 3.8 3.8 /c, 3.9 3.9 /d", "3.8=3.8 mine= =yours =3.9"},
		{"an upgrade", "3.6a 3.6a /usr/bin/tmux, 3.2a 3.2a /x", "3.7c 3.7c /usr/bin/tmux, 3.8 3.8 /y, 3.2a 3.2a /x", "3.6a=3.7c 3.2a=3.2a =3.8"},
		{"moved", "3.6a 3.6a /a, 3.8 3.8 /c", "3.6a 3.6a /b, 3.7 3.7 /d, 3.8 3.8 /c", "3.6a=3.6a 3.8=3.8 =3.7"},
		{"one each", "3.6a 3.6a /a", "3.8 3.8 /b", "3.6a=3.8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var reports [2]Report
			for i, list := range []string{tt.a, tt.b} {
				for s := range strings.SplitSeq(list, ",") {
					reports[i].Targets = append(reports[i].Targets, target(s))
				}
			}
			var got []string
			for _, p := range pairTargets(&reports[0], &reports[1]) {
				got = append(got, p.A+"="+p.B)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

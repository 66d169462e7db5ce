package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersions(t *testing.T) {
	for _, tt := range []struct{ rng, has, hasNot string }{
		{"", "3.2a 3.8 next-3.8", ""},
		{"3.6a", "3.6a", "3.6 3.6b 3.7 next-3.8"},
		{"3.4, 3.6a", "3.4 3.6a", "3.5 3.4a"},
		{">=3.4 <3.6", "3.4 3.5a", "3.3a 3.6 3.6a next-3.6"},
		{"<=3.5a, next-3.8", "3.2 3.5a next-3.8", "3.6 3.8"},
		{">3.7", "3.7c 3.8 next-3.8", "3.7 3.6a"},
		{">=3.8", "next-3.8 3.8", "3.7c"},
		{">=3.4 !=3.6a", "3.4 3.6 3.7", "3.6a 3.3"},
	} {
		r, err := ParseVersions(tt.rng)
		if err != nil {
			t.Errorf("%q: %v", tt.rng, err)
			continue
		}
		for _, v := range strings.Fields(tt.has) {
			if !r.Has(v) {
				t.Errorf("%q has not %s", tt.rng, v)
			}
		}
		for _, v := range strings.Fields(tt.hasNot) {
			if r.Has(v) {
				t.Errorf("%q has %s", tt.rng, v)
			}
		}
	}
	for _, bad := range []string{"new", "3", "3.4,,3.5", ">= 3.4", "=>3.4", ">"} {
		if r, err := ParseVersions(bad); err == nil {
			t.Errorf("%q is taken for %v", bad, r.any)
		}
	}
}

func TestBadExpectations(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no TOML", "[[known]\n", "known.toml:1: "},
		{"an unknown key", "\n[[known]]\ngap = 1\nlayer = \"api\"\nreson = \"x\"\n", "known.toml:5: unknown key known.reson"},
		{"another table", "[[expected]]\n", "known.toml:1: unknown key expected"},
		{"no gap", "[[known]]\nlayer = \"api\"\nreason = \"x\"\n", "known.toml:1: a known failure without gap"},
		{"another layer", "\n\n[[known]]\ngap = 1\nlayer = \"ap\"\nreason = \"x\"\n", `known.toml:3: layer "ap"`},
		{"no reason", "[[known]]\ngap = 1\nlayer = \"api\"\n", "known.toml:1: a known failure without reason"},
		{"another transport", "[[known]]\ngap = 1\nlayer = \"api\"\nreason = \"x\"\ntransport = \"air\"\n", `transport "air"`},
		{"no range", "[[known]]\ngap = 1\nlayer = \"api\"\nreason = \"x\"\ntmux = \"new\"\n", `"new" is no version`},
		{"a number too large", "[[known]]\ngap = 99999999999999999999\n", "known.toml:2: "},
		{"in one line", "known = [{gap = 1, layer = \"api\", reason = \"x\"}]\n", "known.toml: write each known failure under a [[known]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseExpectations("known.toml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got the error %v, want one with %s", err, tt.want)
			}
		})
	}
}

// resultsReport has layer api of gaps on 3.3a and 3.6a; F is for fail, P for pass.
func resultsReport(results ...string) *Report {
	r := &Report{Targets: []Target{{Name: "old", Version: "3.3a"}, {Name: "3.6a", Version: "3.6a"}}}
	for i, two := range results {
		for j, c := range two {
			status := map[rune]Status{'P': Pass, 'F': Fail, '-': NotApplicable, '~': Flaky, '!': Errored}[c]
			r.Cells = append(r.Cells, Cell{Gap: i + 1, Layer: APILayer, Tmux: r.Targets[j].Name, Transport: "exec", Status: status, Reason: "why"})
		}
	}
	return r
}

func entry(gap, tmux string) string {
	if tmux != "" {
		tmux = "tmux = \"" + tmux + "\"\n"
	}
	return "[[known]]\ngap = " + gap + "\nlayer = \"api\"\n" + tmux + "reason = \"slow\"\n"
}

// Only what is not known makes the run fail, and a known failure that passes.
func TestExpectations(t *testing.T) {
	for _, tt := range []struct {
		name, results, entry string
		ok                   bool
		stale                int
	}{
		{"as expected", "FF", entry("1", ""), true, 0},
		{"on one version", "PF", entry("1", ">=3.6"), true, 0},
		{"not of this version", "FF", entry("1", ">=3.6"), false, 0},
		{"another gap", "FF", entry("2", ""), false, 0},
		{"it passes", "PP", entry("1", ""), false, 1},
		{"it passes on one", "PF", entry("1", ""), false, 1},
		{"it is not for these", "--", entry("1", ""), true, 0},
		{"it is flaky", "~F", entry("1", ""), true, 0},
		{"the runner is at fault", "!F", entry("1", ""), false, 0},
		{"by another way", "FF", entry("1", "") + "transport = \"native\"\n", false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := ParseExpectations("known.toml", []byte(tt.entry))
			if err != nil {
				t.Fatal(err)
			}
			r := resultsReport(tt.results)
			e.Apply(r)
			if r.OK() != tt.ok || len(r.Stale) != tt.stale {
				t.Errorf("OK %v, stale %v; want %v, %d", r.OK(), r.Stale, tt.ok, tt.stale)
			}
		})
	}
}

// An update changes what is to be changed and leaves every other byte.
func TestUpdateExpectations(t *testing.T) {
	for _, tt := range []struct {
		name        string
		results     []string
		text, want  string
		wantChanges int
	}{
		{"nothing", []string{"FF"}, "# top\n\n" + entry("1", ""), "# top\n\n" + entry("1", ""), 0},
		{"a new file", []string{"PP", "FF"}, "",
			"# Known failures of mcp-conform: gap, layer, versions of tmux, why, and where more is to be read.\n\n[[known]]\ngap = 2\nlayer = \"api\"\ntmux = \"3.3a, 3.6a\"\nreason = \"why\"\nlink = \"\"\n", 1},
		{"a stale one goes with its comment", []string{"FF", "PP", "FF"},
			"# top\n\n" + entry("1", "") + "\n# two\n# of it\n" + entry("2", "") + "\n# three\n" + entry("3", "") + "# end\n",
			"# top\n\n" + entry("1", "") + "\n# three\n" + entry("3", "") + "# end\n", 1},
		{"a range becomes narrower", []string{"PF"}, "# one\n[[known]] # here\n" + entry("1", ">=3.2, 3.1")[10:],
			"# one\n[[known]] # here\n" + entry("1", ">=3.2 !=3.3a, 3.1 !=3.3a")[10:], 1},
		{"all versions become fewer", []string{"FP"}, entry("1", ""),
			"[[known]]\ntmux = \"!=3.6a\"\ngap = 1\nlayer = \"api\"\nreason = \"slow\"\n", 1},
		{"a reason of several lines", []string{"PP", "FF"}, "[[known]]\ngap = 1\nlayer = \"api\"\nreason = '''\n\n[[known]]\nx'''\n\n" + entry("2", ""), entry("2", ""), 1},
		{"no newline at the end", []string{"FF", "FP"}, strings.TrimSuffix(entry("1", ""), "\n"),
			entry("1", "") + "\n[[known]]\ngap = 2\nlayer = \"api\"\ntmux = \"3.3a\"\nreason = \"why\"\nlink = \"\"\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := ParseExpectations("known.toml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			r := resultsReport(tt.results...)
			e.Apply(r)
			got, changes, err := e.Update(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || len(changes) != tt.wantChanges {
				t.Errorf("%q (-want +got):\n%s", changes, diff)
			}
			again, err := ParseExpectations("known.toml", got)
			if err != nil {
				t.Fatal(err)
			}
			if again.Apply(r); !r.OK() {
				t.Errorf("the updated file does not expect the results: %+v", r)
			}
		})
	}
}

func TestUpdateThatCannotTell(t *testing.T) {
	e, err := ParseExpectations("known.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resultsReport("PF")
	r.Targets[0].Version = "3.6a"
	if _, _, err := e.Update(r); err == nil || !strings.Contains(err.Error(), "another of the same version") {
		t.Errorf("got the error %v", err)
	}
}

package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/cases"
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
	for _, c := range cases.Load(t, "testdata/expect-wrong.txtar", "says") {
		_, err := ParseExpectations("known.toml", []byte(c.Texts["known.toml"]))
		if err == nil || !strings.Contains(err.Error(), c.One("says")) {
			t.Errorf("%s: got the error %v, want one with %s", c.Name, err, c.One("says"))
		}
	}
}

// resultsReport returns a report with layer api of gaps on 3.3a and 3.6a, for each gap a word
// of two letters for the two. The words native, known and upgraded are about the report.
func resultsReport(results ...string) *Report {
	r := &Report{Targets: []Target{{Name: "old", Version: "3.3a"}, {Name: "3.6a", Version: "3.6a"}}}
	for i, two := range results {
		for j, c := range two {
			status, ok := map[rune]Status{'P': Pass, 'F': Fail, '-': NotApplicable, '~': Flaky, '!': Errored, 'C': Fail, 'N': NotOffered}[c]
			if ok {
				cell := Cell{Gap: i + 1, Layer: APILayer, Tmux: r.Targets[j].Name, Transport: "exec", Status: status, Reason: "why"}
				if c == 'C' {
					cell.Claims = []Claim{{Outcome: Crashed, Why: "why"}}
				}
				settle(&cell)
				r.Cells = append(r.Cells, cell)
			}
		}
		for j := range r.Cells {
			switch c := &r.Cells[j]; {
			case two == "native":
				c.Transport = "native"
			case two == "known" && j == 0:
				c.Known = &Known{Reason: "x"}
				c.Claims[0].Known = c.Known
			case two == "upgraded" && c.Tmux == "3.6a":
				c.Tmux, r.Targets[1] = "3.7c", Target{Name: "3.7c", Version: "3.7c"}
			}
		}
	}
	return r
}

// entry returns the entry of a claim of layer api that is open; more is TOML.
func entry(gap, more string) string {
	return "[[known]]\nclaim = \"" + gap + "/api/1\"\nkind = \"open\"\nreason = \"why\"\n" + more
}

// Only what is not known makes the run fail, and a known failure that passes.
func TestExpectations(t *testing.T) {
	for _, tt := range []struct {
		name, results, entry string
		ok                   bool
		stale                int
	}{
		{"as expected", "FF", entry("1", ""), true, 0},
		{"on one version", "PF", entry("1", "tmux = \">=3.6\""), true, 0},
		{"not of this version", "FF", entry("1", "tmux = \">=3.6\""), false, 0},
		{"on one target", "PF", entry("1", "target = \"3.6a\""), true, 0},
		{"on two targets", "FF", entry("1", "target = \"3.6a, old\""), true, 0},
		{"on any other", "FP", entry("1", "target = \"!3.6a\""), true, 0},
		{"not on this one", "FF", entry("1", "target = \"!3.6a\""), false, 0},
		{"another gap", "FF", entry("2", ""), false, 0},
		{"another claim", "FF", strings.Replace(entry("1", ""), "api/1", "api/2", 1), false, 0},
		{"any claim of the script", "FF", strings.Replace(entry("1", ""), "api/1", "api/*", 1), true, 0},
		{"any claim of the gap", "FF", strings.Replace(entry("1", ""), "api/1", "*", 1), true, 0},
		{"it passes", "PP", entry("1", ""), false, 1},
		{"it passes on one", "PF", entry("1", ""), false, 1},
		{"all of the gap passes", "PP", strings.Replace(entry("1", ""), "api/1", "*", 1), false, 1},
		{"it is not for these", "--", entry("1", ""), true, 0},
		{"it is flaky", "~F", entry("1", ""), true, 0},
		{"the runner is at fault", "!F", entry("1", ""), false, 0},
		{"by another way", "FF", entry("1", "transport = \"native\""), false, 0},
		{"it crashes", "CC", entry("1", ""), false, 0},
		{"a crash is known", "CC", strings.Replace(entry("1", ""), "open", "crash", 1), true, 0},
		{"another reason", "FF", strings.Replace(entry("1", ""), "why", "why not", 1), false, 0},
		{"an expression", "FF", strings.Replace(entry("1", ""), "why", "/^wh.$/", 1), true, 0},
		{"another expression", "FF", strings.Replace(entry("1", ""), "why", "/^h/", 1), false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := resultsReport(tt.results)
			if expecting(t, tt.entry, r); r.OK() != tt.ok || len(r.Stale) != tt.stale {
				t.Errorf("OK %v, stale %v; want %v, %d", r.OK(), r.Stale, tt.ok, tt.stale)
			}
		})
	}
}

// Of the claims of one script, each is known or not.
func TestExpectationsOfClaims(t *testing.T) {
	known := func(claim, kind, reason string) string {
		return fmt.Sprintf("[[known]]\nclaim = \"106/tmux/%s\"\nkind = %q\nreason = %q\n", claim, kind, reason)
	}
	for _, tt := range []struct {
		name    string
		claims  []string
		entries string
		ok      bool
		stale   string
	}{
		{"one is known and another fails", []string{"open x", "open y"}, known("1", "open", "x"), false, ""},
		{"both are known", []string{"open x", "open y"}, known("1", "open", "x") + known("2", "open", "y"), true, ""},
		{"all are", []string{"open x", "open y"}, known("*", "open", "/x|y/"), true, ""},
		{"one passes", []string{"true", "open y"}, known("1", "open", "x") + known("2", "open", "y"), false, "known.toml:1: 106/tmux/1 does not fail with tmux 3.6a: remove the entry: x"},
		{"one is not offered any more", []string{"not offered", "open y"}, known("1", "open", "x") + known("2", "open", "y"), false, "known.toml:1: 106/tmux/1 does not fail with tmux 3.6a: remove the entry: x"},
		{"one does not apply", []string{"n/a", "open y"}, known("1", "open", "x") + known("2", "open", "y"), true, ""},
		{"one is not reached", []string{"crash x", "not reached"}, known("1", "crash", "x") + known("2", "open", "y"), true, ""},
		{"any of all", []string{"true", "open y"}, known("*", "open", "y"), true, ""},
		{"what was the first to fail is the second", []string{"open x", "open y"}, known("1", "open", "x") + known("2", "open", "y"), true, ""},
		{"of another call", []string{"open show(%1) succeeded"}, known("1", "open", "show(%0) succeeded"), false, ""},
		{"of another call of its kind", []string{"open show #2 succeeded"}, known("1", "open", "show succeeded"), false, ""},
		{"of the same call, with another number", []string{"open 1.txtar:7: show(%1) #2: pid 12 died"}, known("1", "open", "show(%1) #2: pid 7 died"), true, ""},
		{"in another line, with another number", []string{"open 1.txtar:7: pid 12 died"}, known("1", "open", "pid 7 died"), true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := claimsReport(map[string][]string{"3.6a": tt.claims})
			expecting(t, tt.entries, r)
			stale := ""
			for _, s := range r.Stale {
				stale += s.String()
			}
			if r.OK() != tt.ok || stale != tt.stale {
				t.Errorf("OK %v, stale %q; want %v, %q", r.OK(), stale, tt.ok, tt.stale)
			}
		})
	}
}

// An update changes what is to be changed and leaves every other byte.
func TestUpdateExpectations(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/expect-update.txtar", "results", "changes", "chomp") {
		t.Run(c.Name, func(t *testing.T) {
			text := c.Texts["known.toml"]
			if c.One("chomp") == "true" {
				text = strings.TrimSuffix(text, "\n")
			}
			r := resultsReport(strings.Fields(c.One("results"))...)
			got, changes, err := expecting(t, text, r).Update(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Texts["updated"], string(got.Text())); diff != "" || fmt.Sprint(len(changes)) != c.One("changes") {
				t.Errorf("%q (-want +got):\n%s", changes, diff)
			}
			if expecting(t, string(got.Text()), r); !r.OK() {
				t.Errorf("the updated file does not expect the results: %+v", r)
			}
		})
	}
}

// expecting parses a file of known failures and applies it to a report.
func expecting(t *testing.T, text string, r *Report) *Expectations {
	t.Helper()
	e, err := ParseExpectations("known.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Apply(r)
	return e
}

// Two targets of one version have failures of their own.
func TestUpdateOfOneVersion(t *testing.T) {
	r := resultsReport("PF")
	r.Targets[0].Version = "3.6a"
	got, _, err := expecting(t, "", &Report{}).Update(r)
	if err != nil || !strings.Contains(string(got.Text()), "target = \"3.6a\"\n") || !r.OK() {
		t.Errorf("%v: %s: %+v", err, got.Text(), r)
	}
}

// What fails with another server on every tmux is the server's: its entry has no target.
func TestUpdateOfServer(t *testing.T) {
	r := resultsReport("FF", "PF", "F-")
	r.Server = "other-mcp"
	for i := range r.Cells {
		r.Cells[i].Layer = MCPLayer
	}
	e, err := ParseExpectations("known.toml", nil)
	if err == nil {
		e, _, err = e.Update(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	one := "\n[[known]]\n%sclaim = \"%d/mcp/1\"\nkind = \"open\"\nreason = \"why\"\nlink = \"\"\n"
	_, got, _ := strings.Cut(string(e.Text()), "read.\n")
	const its = "server = \"other-mcp\"\n"
	if want := fmt.Sprintf(one+one+one, its, 1, "target = \"3.6a\"\n"+its, 2, its, 3); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// One file serves two servers: each by its name, with its command changed, and neither
	// entries of the other.
	second := resultsReport("PP", "FF", "PP")
	second.Server, second.ServerName = "uvx second", "the second"
	for i := range second.Cells {
		second.Cells[i].Layer = MCPLayer
	}
	if e.Apply(second); len(second.Stale) > 0 || second.OK() {
		t.Errorf("entries of another server are used, or stale: %+v", second)
	}
	if e, _, err = e.Update(second); err != nil || !second.OK() || !strings.Contains(string(e.Text()), "server = \"the second\"\nclaim = \"2/mcp/1\"") {
		t.Fatalf("%v: %s", err, e.Text())
	}
	second.Server = "uvx second@2"
	e.Apply(r)
	if e.Apply(second); !second.OK() || !r.OK() {
		t.Errorf("stale %v and %v with\n%s", r.Stale, second.Stale, e.Text())
	}
	for server, known := range map[string]bool{"the second": true, "uvx second@2": true, "x, the second": true, "!other": true, "!the second": false, "tmux": false} {
		one := "[[known]]\nserver = \"" + server + "\"\nclaim = \"2/mcp/1\"\nkind = \"open\"\nreason = \"why\"\n"
		if expecting(t, one, second); second.OK() != known {
			t.Errorf("server %s: OK %v", server, second.OK())
		}
	}
}

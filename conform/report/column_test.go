package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// claimsIn returns claims with these outcomes: "x" before one makes it an extra.
func claimsIn(outcomes string) (all []Claim) {
	for i, o := range strings.Split(outcomes, ", ") {
		o, extra := strings.CutPrefix(o, "x ")
		all = append(all, Claim{
			Number: i + 1, Text: fmt.Sprint("claim ", i+1), Outcome: Outcome(o), Asked: !extra, Expected: Confirmed, Why: o + " why",
			Evidence: &Evidence{"api x", "y", o},
		})
	}
	return all
}

// What a script of layers api and mcp comes to by its claims: whether the run fails, and the mark.
func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		claims             string
		foreign, own       Status // of a wrapper, and of this module
		mark, ownMark      Status
		strict, strictMark Status // of a wrapper
		reason             string // of a wrapper
	}{
		{"true, true", Pass, Pass, Pass, Pass, Pass, Pass, ""},
		{"true, x open", Pass, Fail, Pass, seenPartly, Pass, Pass, ""},
		{"true, x not offered", Pass, Pass, Pass, seenPartly, Pass, Pass, ""},
		{"true, open, x true", Fail, Fail, seenPartly, seenPartly, Fail, seenPartly, "open why"},
		{"open, true", Fail, Fail, Fail, Fail, Fail, Fail, "open why"},
		{"x open, true", Pass, Fail, Pass, seenPartly, Pass, Pass, ""},
		{"x open, open", Fail, Fail, Fail, Fail, Fail, Fail, "open why"},
		{"not offered, not offered", NotOffered, NotOffered, NotOffered, NotOffered, Fail, seenBlocked, "not offered why"},
		{"not offered, true", NotOffered, NotOffered, NotOffered, NotOffered, Fail, seenBlocked, "not offered why"},
		{"not offered, open", Fail, Fail, NotOffered, NotOffered, Fail, seenBlocked, "open why"},
		{"true, not offered", Pass, Pass, seenPartly, seenPartly, Fail, seenPartly, ""},
		{"blocked, not reached", Fail, Fail, seenBlocked, seenBlocked, Fail, seenBlocked, "blocked why"},
		{"true, blocked, not reached", Fail, Fail, seenPartly, seenPartly, Fail, seenPartly, "blocked why"},
		{"crash, not reached", Fail, Fail, Fail, Fail, Fail, Fail, "crash why"},
		{"timeout, not reached", Fail, Fail, Fail, Fail, Fail, Fail, "timeout why"},
		{"n/a, true", Pass, Pass, Pass, Pass, Pass, Pass, ""},
		{"n/a, open, true", Fail, Fail, Fail, Fail, Fail, Fail, "open why"},
		{"n/a, x true", NotApplicable, NotApplicable, NotApplicable, NotApplicable, NotApplicable, NotApplicable, "nothing that the gap asks for applies to this version"},
		{"n/a, x open", NotApplicable, Fail, NotApplicable, Fail, NotApplicable, NotApplicable, "nothing that the gap asks for applies to this version"},
	} {
		settled := func(transport string, strict bool) *Cell {
			c := &Cell{Layer: APILayer, Transport: transport, Claims: claimsIn(tt.claims)}
			c.Settle(claimsIn(tt.claims))
			if strict {
				c.Refuse()
			}
			return c
		}
		foreign, own, strict := settled("", false), settled("exec", false), settled("", true)
		got := []Status{foreign.Status, own.Status, foreign.seen(), own.seen(), strict.Status, strict.seen()}
		if want := []Status{tt.foreign, tt.own, tt.mark, tt.ownMark, tt.strict, tt.strictMark}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tt.claims, got, want)
		}
		if foreign.Reason != tt.reason {
			t.Errorf("%s: reason %q, want %q", tt.claims, foreign.Reason, tt.reason)
		}
		if foreign.Status == Fail && foreign.Last().Actual == "" {
			t.Errorf("%s: it fails without evidence", tt.claims)
		}
	}
}

// apiNamed returns a wrapper that describes itself, under a name of its own if one is given.
func apiNamed(name, described, version string) API {
	d := &Described{Protocol: 1, Name: described, Version: version, Language: "python"}
	if name == "" {
		name = d.String()
	}
	return API{Name: name, Command: "run " + name, Described: d}
}

// Which wrappers of two runs are compared, and whether as the same.
func TestPairAPIs(t *testing.T) {
	old, newer, mine := apiNamed("", "libtmux", "0.56.0"), apiNamed("", "libtmux", "0.62.0"), apiNamed("mine", "libtmux", "0.62.0")
	other, builtIn := apiNamed("", "gotmux", "0.5.0"), API{Name: BuiltIn, Described: &Described{Name: "package tmux", Version: "1"}}
	for _, tt := range []struct {
		a, b []API
		want string
	}{
		{[]API{old}, []API{newer}, "libtmux 0.56.0=libtmux 0.62.0"},
		{[]API{builtIn, old}, []API{newer, builtIn}, "go=go libtmux 0.56.0=libtmux 0.62.0"},
		{[]API{old, newer}, []API{newer}, "libtmux 0.62.0=libtmux 0.62.0"},
		{[]API{old, newer}, []API{old, newer}, "libtmux 0.56.0=libtmux 0.56.0 libtmux 0.62.0=libtmux 0.62.0"},
		{[]API{mine}, []API{mine}, "mine=mine"},
		{[]API{old}, []API{other}, "libtmux 0.56.0~gotmux 0.5.0"},
		{[]API{mine}, []API{newer}, "mine~libtmux 0.62.0"},
		{[]API{old, other}, []API{builtIn}, ""},
		{nil, []API{newer}, ""},
	} {
		var got []string
		for _, p := range pairAPIs(&Report{APIs: tt.a}, &Report{APIs: tt.b}) {
			got = append(got, p.a+map[bool]string{true: "=", false: "~"}[p.same]+p.b)
		}
		if slices.Sort(got); strings.Join(got, " ") != tt.want {
			t.Errorf("%q, want %q", strings.Join(got, " "), tt.want)
		}
	}
}

func TestVersionRanges(t *testing.T) {
	for _, tt := range []struct {
		text, version string
		want          bool
	}{
		{">=0.57", "0.57.0", true}, {">=0.57", "0.56.9", false}, {">=0.57 <0.60", "0.60", false}, {">=0.57 <0.60", "0.59.12", true},
		{"=0.62.0", "0.62", true}, {"<1.0", "1.0rc1", true}, {">0.9", "0.10", true}, {">=0.57", "", false}, {"", "", true}, {"<=2", "10", false},
	} {
		r, ok := parseRange(tt.text)
		if !ok || r.has(tt.version) != tt.want {
			t.Errorf("%q of %q: %v, %v", tt.version, tt.text, r.has(tt.version), ok)
		}
	}
	for _, text := range []string{"0.57", ">=", "~0.57", "=>1", ">= 1"} {
		if r, ok := parseRange(text); ok {
			t.Errorf("%q is read as %q", text, r)
		}
	}
}

// wrapperReport has two gaps, each closed in some versions of a wrapper.
func wrapperReport(marks map[string]string) *Report {
	r := &Report{
		Version: FormatVersion, Layers: []Layer{APILayer}, Targets: []Target{{Name: "3.6a", Version: "3.6a", Path: "/usr/bin/tmux", Spec: "system"}},
		Gaps: []GapInfo{{Number: 1, Name: "01-a", Title: "one gap"}, {Number: 2, Name: "02-b", Title: "another"}},
	}
	for _, version := range slices.Sorted(func(yield func(string) bool) {
		for v := range marks {
			if !yield(v) {
				return
			}
		}
	}) {
		a := apiNamed("", "libtmux", version)
		r.APIs = append(r.APIs, a)
		for i, outcomes := range strings.Split(marks[version], "; ") {
			c := Cell{Gap: i + 1, Layer: APILayer, API: a.Name, Tmux: "3.6a", Claims: claimsIn(outcomes)}
			c.Settle(claimsIn(outcomes))
			r.Cells = append(r.Cells, c)
		}
	}
	return r
}

// Since when a wrapper closes a gap, and what its newest version lacks.
func TestFamilies(t *testing.T) {
	r := wrapperReport(map[string]string{
		"0.9.0":  "open, true; not offered, true",
		"0.10.0": "true, open; true, true",
		"0.11.0": "true, true; true, x open",
		"0.12.0": "true, true; open, true",
	})
	f := r.families()
	if len(f) != 1 || len(f[0].Versions) != 4 || f[0].Versions[0].API != "libtmux 0.9.0" {
		t.Fatalf("%+v", f)
	}
	var got []string
	for _, g := range f[0].Gaps {
		got = append(got, fmt.Sprint(g.Number, " ", g.Since, " ", len(g.Open), len(g.Extras)))
	}
	if want := "1 since 0.11.0; in part since 0.10.0 0 0, 2 no 1 0"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every format names the wrappers, and more than six have a table with their names.
func TestWrappersInFormats(t *testing.T) {
	marks := map[string]string{}
	for i := range 7 {
		marks[fmt.Sprintf("0.%d", i)] = "true, open; true, x open"
	}
	for n, r := range map[string]*Report{
		"two": wrapperReport(map[string]string{"0.1": "open, true; true, x open", "0.2": "true, true; not offered"}), "seven": wrapperReport(marks),
	} {
		for _, format := range Formats {
			if format == "findings" {
				continue // which is about tmux
			}
			var b bytes.Buffer
			if err := Write(&b, format, r, Style{Unicode: true}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), "libtmux 0.2") {
				t.Errorf("%s of %s wrappers: it names none:\n%s", format, n, b.String())
			}
			if format == "text" && n == "seven" && (!strings.Contains(b.String(), "\n 2  another  ✓            ✓") || !strings.Contains(b.String(), "tmux 3.6a")) {
				t.Errorf("no table of wrappers:\n%s", b.String())
			}
			if format == "wrappers" && strings.Contains(b.String(), "run libtmux") {
				t.Errorf("the page has a command:\n%s", b.String())
			}
		}
	}
}

// Known failures of wrappers: which they are about, and what an update writes.
func TestKnownOfWrappers(t *testing.T) {
	entry := func(api string) string {
		return fmt.Sprintf("[[known]]\nclaim = \"1/api/1\"\napi = %q\nkind = \"open\"\nreason = \"why\"\n", api)
	}
	for api, want := range map[string]string{
		"libtmux":              "0.1 0.2",
		"libtmux 0.1":          "0.1",
		"libtmux >=0.2":        "0.2",
		"libtmux <0.2, gotmux": "0.1",
		"!libtmux 0.1":         "0.2",
		"!libtmux":             "",
		"libtmux>=0.2":         "0.2",
		"gotmux":               "",
	} {
		r := wrapperReport(map[string]string{"0.1": "open", "0.2": "open"})
		e, err := ParseExpectations("x.toml", []byte(entry(api)))
		if err != nil {
			t.Fatal(err)
		}
		e.Apply(r)
		var known []string
		for _, c := range r.Cells {
			if c.Known != nil {
				known = append(known, strings.TrimPrefix(c.API, "libtmux "))
			}
		}
		if got := strings.Join(known, " "); got != want {
			t.Errorf("api = %q knows %q, want %q", api, got, want)
		}
	}
	for api, want := range map[string]string{
		"libtmux >>1": `x.toml:1: api = "libtmux >>1": want names of wrappers`,
		">=1":         `x.toml:1: api = ">=1": want names of wrappers`,
	} {
		if _, err := ParseExpectations("x.toml", []byte(entry(api))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", api, err, want)
		}
	}
	if _, err := ParseExpectations("x.toml", []byte(strings.Replace(entry("libtmux"), "1/api/1", "1/mcp/1", 1))); err == nil {
		t.Error("an entry about layer mcp may name a wrapper")
	}

	r := wrapperReport(map[string]string{"0.1": "open", "0.2": "open, x open"})
	none, _ := ParseExpectations("x.toml", nil)
	updated, _, err := none.Update(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"api = \"libtmux 0.1\"\nclaim = \"1/api/1\"", "api = \"libtmux 0.2\"\nclaim = \"1/api/1\""} {
		if !strings.Contains(string(updated.Text()), want) {
			t.Errorf("no %q in\n%s", want, updated.Text())
		}
	}
	if strings.Count(string(updated.Text()), "[[known]]") != 2 {
		t.Errorf("want two entries, none of them for an extra:\n%s", updated.Text())
	}
	if !r.OK() {
		t.Error("what is known makes the run fail")
	}
}

// A wrapper that only one run has is new or gone, whatever else layer api asked.
func TestDiffOfOtherColumns(t *testing.T) {
	one, two := wrapperReport(map[string]string{"0.1": "true; true"}), wrapperReport(map[string]string{"0.1": "true; true"})
	two.APIs = append(two.APIs, API{Name: BuiltIn, Described: &Described{Name: "package tmux", Version: "1"}})
	two.Cells = append(two.Cells, Cell{Gap: 1, Layer: APILayer, API: BuiltIn, Tmux: "3.6a", Transport: "exec", Status: Fail, Claims: claimsIn("open")})
	for _, tt := range []struct {
		a, b *Report
		want string
	}{{one, two, "new go"}, {two, one, "gone go"}} {
		d := Compare(tt.a, tt.b)
		if len(d.Changes) != 1 || d.Changes[0].Change+" "+d.Changes[0].API != tt.want || d.Same != 2 {
			t.Errorf("%+v, %d the same, want %s", d.Changes, d.Same, tt.want)
		}
	}
	// An old report has no names, and one wrapper.
	old := wrapperReport(map[string]string{"0.1": "true; true"})
	old.APIs, old.Cells = nil, []Cell{{Gap: 1, Layer: APILayer, Tmux: "3.6a", Transport: "exec", Status: Pass, Claims: claimsIn("true")}}
	if d := Compare(old, two); d.Same+len(d.Changes) < 2 {
		t.Errorf("%+v", d)
	}
}

// What changed between two versions of a wrapper.
func TestDiffOfWrappers(t *testing.T) {
	a, b := wrapperReport(map[string]string{"0.1": "true, open; true, x true"}), wrapperReport(map[string]string{"0.2": "not offered, true; true, x open"})
	var got []string
	for _, c := range Compare(a, b).Changes {
		got = append(got, fmt.Sprintf("%s %d/%d %s", c.Change, c.Gap, c.Claim, c.API))
	}
	if want := []string{"worse 1/1 libtmux 0.2", "worse 2/2 libtmux 0.2", "better 1/2 libtmux 0.2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.APIs[0] = apiNamed("other", "other", "1")
	for i := range b.Cells {
		b.Cells[i].API = "other"
	}
	got = nil
	for _, c := range Compare(a, b).Changes {
		got = append(got, fmt.Sprintf("%s %d/%d", c.Change, c.Gap, c.Claim))
	}
	if want := []string{"worse 2/2", "better 1/2", "changed 1/1"}; !slices.Equal(got, want) {
		t.Errorf("between two wrappers: %q, want %q", got, want)
	}
}

package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// ReadJSON reads a report that [WriteJSON] has written.
func ReadJSON(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, errors.New("not a JSON report")
	}
	if report.Version != FormatVersion {
		return nil, fmt.Errorf("not a report of version %d: its version is %d", FormatVersion, report.Version)
	}
	return &report, nil
}

// What a [ClaimChange] is.
const (
	Worse   = "worse"   // it fails now, in a worse way, is flaky now, or is not looked at any more
	Better  = "better"  // the other way round
	Changed = "changed" // neither: another verdict or reason, or not for this version or not offered by another server
	New     = "new"     // a claim that was not there
	Gone    = "gone"    // a claim that is not there any more
)

var changeOrder = []string{Worse, Better, Changed, New, Gone}

// Diff is what changed between two runs.
type Diff struct {
	Version int `json:"version"`
	// Targets pairs the targets that are compared; see [pairTargets].
	Targets []TargetPair  `json:"targets"`
	Changes []ClaimChange `json:"changes"`
	// Same is the number of claims that did not change.
	Same int `json:"same"`
	// ScriptsDiffer are the gaps whose scripts are not the same in both runs, where a change
	// may be the script's.
	ScriptsDiffer []int `json:"scripts_differ,omitempty"`

	sameServer bool      // was asked, by its name or else its command
	apis       []apiPair // that are compared
	// nameless says, for results of the second run and of the first, whether the other one is an
	// old report, whose layer api has no names.
	nameless map[bool]bool
}

// TargetPair is a target in both runs; a name is empty where there is none.
type TargetPair struct {
	A        string `json:"a"`
	B        string `json:"b"`
	VersionA string `json:"version_a"`
	VersionB string `json:"version_b"`
}

func (p TargetPair) String() string {
	switch {
	case p.A == p.B && p.VersionA == p.VersionB || p.B == "":
		return p.A
	case p.A == p.B:
		return fmt.Sprintf("%s (%s → %s)", p.A, p.VersionA, p.VersionB)
	case p.A == "":
		return p.B
	}
	return p.A + " → " + p.B
}

// ClaimChange is a claim whose outcome changed, or which is in only one of the runs.
type ClaimChange struct {
	Change string `json:"change"`
	Gap    int    `json:"gap"`
	Title  string `json:"title"`
	Layer  Layer  `json:"layer"`
	// API is the wrapper on layer api: the second run's, or the only run's that has the cell.
	API string `json:"api,omitempty"`
	// Claim is its number, and Text what it says.
	Claim int        `json:"claim"`
	Text  string     `json:"text"`
	Tmux  TargetPair `json:"tmux"`
	// Transport is how the second run reached tmux, or the only run that has the cell.
	Transport string `json:"transport"`
	// From and To are the outcomes, "open, known"; empty where there is none.
	From string `json:"from"`
	To   string `json:"to"`
	// Was is why the first outcome is not true, and Reason why the second is not.
	Was    string `json:"was,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Worse reports whether a claim got worse.
func (d *Diff) Worse() bool {
	return slices.ContainsFunc(d.Changes, func(c ClaimChange) bool { return c.Change == Worse })
}

// Compare returns what changed from run a to run b.
func Compare(a, b *Report) *Diff {
	d := &Diff{Version: FormatVersion, Targets: pairTargets(a, b), Changes: []ClaimChange{}}
	d.sameServer = a.ServerName == b.ServerName && (a.ServerName != "" || a.Server == b.Server)
	d.apis = pairAPIs(a, b)
	d.nameless = map[bool]bool{true: len(a.APIs) == 0, false: len(b.APIs) == 0}
	for _, g := range b.Gaps {
		if was := a.Gap(g.Number).Digest; was != "" && g.Digest != "" && was != g.Digest {
			d.ScriptsDiffer = append(d.ScriptsDiffer, g.Number)
		}
	}
	for _, p := range d.Targets {
		for _, is := range b.results() {
			if is.Tmux == p.B {
				d.compare(b, p, a.like(is, p.A, d.other(is, true)), &is)
			}
		}
		for _, was := range a.results() {
			if was.Tmux == p.A && b.like(was, p.B, d.other(was, false)) == nil {
				d.compare(a, p, &was, nil)
			}
		}
	}
	slices.SortStableFunc(d.Changes, func(x, y ClaimChange) int {
		return cmp.Or(slices.Index(changeOrder, x.Change)-slices.Index(changeOrder, y.Change), x.Gap-y.Gap)
	})
	return d
}

// like returns the result for the same claim of a wrapper, or nil if there is none. It ignores the
// transport: a run has one, and runs that differ in it can be compared.
func (r *Report) like(c result, target, api string) *result {
	cell := r.Cell(c.Gap, target, Column{Layer: c.Layer, API: api})
	for i := 0; cell != nil && i < len(cell.Claims); i++ {
		// A script that has no claims of its own has one.
		if cl := &cell.Claims[i]; cl.Text == c.Claim.Text || cl.Text == WholeClaim || c.Claim.Text == WholeClaim {
			return &result{cell, cl}
		}
	}
	return nil
}

// compare adds what changed from one result to another; one of them, of which r is the
// report, may be nil.
func (d *Diff) compare(r *Report, p TargetPair, was, is *result) {
	one, none := cmp.Or(is, was), Outcome(NotOffered)
	c := ClaimChange{
		Gap: one.Gap, Title: r.Gap(one.Gap).Title, Layer: one.Layer, Claim: one.Claim.Number, Text: one.Claim.Text,
		API: one.API, Tmux: p, Transport: one.Transport,
	}
	if was != nil {
		c.From, c.Was = was.Claim.word(), was.untrue()
	}
	if is != nil {
		c.To, c.Reason = is.Claim.word(), is.untrue()
	}
	switch {
	case (was == nil || is == nil) && one.Claim.Outcome == Outcome(NotApplicable):
		return
	case was == nil:
		c.Change = New
	case is == nil:
		c.Change = Gone
	// A tool that one server lost or gained is no change when the other run had another server.
	case was.Claim.Outcome != is.Claim.Outcome && (was.Claim.Outcome == none || is.Claim.Outcome == none) &&
		!(d.same(is) && (was.Claim.Outcome == True || is.Claim.Outcome == True)),
		was.Claim.Outcome.Failed() && is.Claim.Outcome == Outcome(Skip):
		c.Change = Changed
	case badness[is.Claim.Outcome] > badness[was.Claim.Outcome]:
		c.Change = Worse
	case badness[is.Claim.Outcome] < badness[was.Claim.Outcome]:
		c.Change = Better
	case was.Claim.Outcome != is.Claim.Outcome, is.Claim.Outcome == Untrue && c.Was != c.Reason,
		is.Claim.Outcome.Failed() && reasonOf(c.Was) != reasonOf(c.Reason):
		c.Change = Changed
	default:
		d.Same++
		return
	}
	d.Changes = append(d.Changes, c)
}

// word returns the outcome, with "known" behind it if the failure was.
func (cl *Claim) word() string {
	if cl.Known != nil {
		return string(cl.Outcome) + ", known"
	}
	return string(cl.Outcome)
}

// untrue returns why the claim is not true, or "" if it is.
func (c result) untrue() string {
	switch c.Claim.Outcome {
	case True, NotReached:
		return ""
	case Untrue:
		return c.Claim.Why
	}
	return c.Why()
}

// reasonOf strips from a reason what differs from run to run: numbers, and the line of the script.
func reasonOf(why string) string {
	why = place.ReplaceAllString(oneLine(why), "")
	call := callAt.FindString(why) // whose numbers are the script's
	return call + digits.ReplaceAllString(why[len(call):], "0")
}

// callAt is the call that a reason begins with, behind what kind of failure it is.
var callAt = regexp.MustCompile(`^(set-up: |mapping: |schema: )?[a-z][a-z0-9_-]*(\([^)]*\)?( #[0-9]+)?| #[0-9]+)`)

// badness ranks outcomes from best to worst. A known failure ranks as any other.
var badness = map[Outcome]int{
	True: 0, Untrue: 0, Outcome(NotApplicable): 0,
	Outcome(Flaky): 1,
	Outcome(Skip):  2, Outcome(NotOffered): 2,
	Open: 3, Blocked: 3, NotReached: 3,
	Crashed: 4, TimedOut: 4, Unstable: 4, Outcome(Errored): 4,
}

// pairTargets pairs the targets of two runs, the most alike first. If each run has one
// target left, it pairs these two.
func pairTargets(a, b *Report) []TargetPair {
	var pairs []TargetPair
	restA, restB := slices.Clone(a.Targets), slices.Clone(b.Targets)
	for {
		best, at, with := 0, 0, 0
		for i, x := range restA {
			for j, y := range restB {
				if n := x.likeness(y); n > best {
					best, at, with = n, i, j
				}
			}
		}
		if best == 0 && (len(restA) != 1 || len(restB) != 1) {
			break
		}
		x, y := restA[at], restB[with]
		pairs = append(pairs, TargetPair{x.Name, y.Name, x.Version, y.Version})
		restA, restB = slices.Delete(restA, at, at+1), slices.Delete(restB, with, with+1)
	}
	order := func(p TargetPair) int {
		return slices.IndexFunc(a.Targets, func(t Target) bool { return t.Name == p.A })
	}
	slices.SortStableFunc(pairs, func(x, y TargetPair) int { return order(x) - order(y) })
	for _, t := range restA {
		pairs = append(pairs, TargetPair{A: t.Name, VersionA: t.Version})
	}
	for _, t := range restB {
		pairs = append(pairs, TargetPair{B: t.Name, VersionB: t.Version})
	}
	return pairs
}

// likeness returns how much alike two targets are: by the name that the user gave, then the
// version, then the program, then a name that was made of the version. It returns 0 if they
// were given different names.
func (t Target) likeness(o Target) (n int) {
	given := func(t Target) bool { return t.Name != t.Version && !strings.HasPrefix(t.Name, t.Version+"#") }
	program := t.Path != "" && t.Path == o.Path && slices.Equal(t.Args, o.Args) && slices.Equal(t.Env, o.Env)
	if given(t) && given(o) && t.Name != o.Name {
		return 0
	}
	for _, is := range []bool{given(t) && t.Name == o.Name, t.Version == o.Version, program, t.Name == o.Name} {
		n *= 2
		if is {
			n++
		}
	}
	return n
}

// Warning returns a warning if the runs did not run the same scripts, and otherwise "".
func (d *Diff) Warning() string {
	if len(d.ScriptsDiffer) == 0 {
		return ""
	}
	return fmt.Sprintf("the scripts differ: %s: what changed there may be the script and not tmux",
		strings.ReplaceAll(strings.Trim(fmt.Sprint(d.ScriptsDiffer), "[]"), " ", ", "))
}

// Summary returns the changes in one line.
func (d *Diff) Summary() string {
	var changes []string
	for _, c := range d.Changes {
		changes = append(changes, c.Change)
	}
	counts, _ := count(changes)
	return strings.Join(append(counted(counts, changeOrder), fmt.Sprintf("%d the same", d.Same)), ", ")
}

// count returns how often each value is in a list, and the values in the order in which they
// first appear.
func count[T comparable](list []T) (times map[T]int, order []T) {
	times = map[T]int{}
	for _, v := range list {
		if times[v]++; times[v] == 1 {
			order = append(order, v)
		}
	}
	return times, order
}

// counted returns the counts that are not zero, each as a number and its name, in the given
// order.
func counted(counts map[string]int, order []string) []string {
	var parts []string
	for _, k := range order {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	return parts
}

// text describes a change in words.
func (c *ClaimChange) text() string {
	what := fmt.Sprintf("%d/%s/%d", c.Gap, c.Layer, c.Claim)
	if c.API != "" && c.API != BuiltIn {
		what += ", " + c.API
	}
	what += fmt.Sprintf(", tmux %s", c.Tmux)
	if c.Transport != "exec" && c.Transport != "" {
		what += ", " + c.Transport
	}
	what += " (" + c.Title + ")"
	if c.Text != WholeClaim {
		what += ": " + c.Text
	}
	outcome := c.From + " → " + c.To
	switch {
	case c.From == "" || c.To == "":
		outcome = c.From + c.To
	case c.From == c.To:
		outcome = c.From + ": " + c.Was + " → " + c.Reason
	}
	if c.From != c.To && c.Reason != "" {
		outcome += ": " + c.Reason
	}
	return what + ": " + outcome
}

// diffPart is changes of one kind, or what a target adds or removes.
type diffPart struct {
	Heading string
	Color   string // of the heading
	Target  bool
	Changes []string
}

// parts returns all changes, regressions first and targets that only one run has last.
func (d *Diff) parts() (parts []diffPart) {
	ofTarget := func(c ClaimChange) bool { return c.Tmux.A == "" || c.Tmux.B == "" }
	colors := map[string]string{Worse: "1;31", Better: "32", Changed: "36"}
	for _, change := range changeOrder {
		p := diffPart{Heading: strings.ToUpper(change[:1]) + change[1:], Color: colors[change]}
		for _, c := range d.Changes {
			if c.Change == change && !ofTarget(c) {
				p.Changes = append(p.Changes, c.text())
			}
		}
		parts = append(parts, p)
	}
	for _, t := range d.Targets {
		what := "added"
		if t.B == "" {
			what = "removed"
		}
		p := diffPart{Target: true}
		var outcomes []string
		for _, c := range d.Changes {
			if ofTarget(c) && c.Tmux == t {
				outcomes = append(outcomes, c.From+c.To)
				p.Changes = append(p.Changes, c.text())
			}
		}
		counts, order := count(outcomes)
		p.Heading = fmt.Sprintf("tmux %s %s: %s", t, what, strings.Join(counted(counts, order), "; "))
		parts = append(parts, p)
	}
	return slices.DeleteFunc(parts, func(p diffPart) bool { return p.Changes == nil })
}

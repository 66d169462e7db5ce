package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Expectations are failures that are known, as a file of TOML lists them:
//
//	[[known]]
//	target = "mine"
//	claim = "12/api/1"
//	kind = "open"
//	reason = "standard error is lost"
//	link = "https://example.org/issues/7"
//
// claim is a claim's gap, layer and number; "12/api/*" and "12/*" are all claims of a
// script or a gap. kind is open, blocked, crash, timeout or unstable. reason is a part of why the
// claim failed, in which any number stands for any other, or a /regexp/. target has the
// names of targets, or those that it is not about, "!mine"; tmux is a range of versions
// (see versions.go), and transport a way to reach it. Without them the entry is about all.
//
// A claim that failed as an entry says is known to: it does not make the run fail. One
// that failed otherwise does, and so does an entry whose claims are all true: it is stale.
// What does not apply, is skipped or is flaky is neither. An error of the runner is never
// expected. The nil Expectations have no entry.
type Expectations struct {
	file    string
	text    []byte
	entries []expectation
}

type expectation struct {
	Target    string  `toml:"target"`
	Tmux      string  `toml:"tmux"`
	Claim     string  `toml:"claim"`
	Transport string  `toml:"transport"`
	Kind      Outcome `toml:"kind"`
	Reason    string  `toml:"reason"`
	Link      string  `toml:"link"`
	// Gap and Layer are those of the form without claim and kind.
	Gap   int   `toml:"gap"`
	Layer Layer `toml:"layer"`

	number   int // of the claim; 0 for all
	versions Versions
	pattern  *regexp.Regexp
	line     int
	// In the text the entry is from start to end, with the comments right above it;
	// its header ends at head.
	start, head, end int
	// targetAt is the range of the line that has the targets; empty for none.
	targetAt [2]int
}

// ParseExpectations reads the text of a file.
func ParseExpectations(file string, text []byte) (*Expectations, error) {
	e := &Expectations{file: file, text: text}
	var doc struct {
		Known []expectation `toml:"known"`
	}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, TOMLError(file, err, "[[known]] with target, tmux, claim, transport, kind, reason and link")
	}
	e.entries = doc.Known
	if err := e.locate(); err != nil {
		return nil, err
	}
	for i := range e.entries {
		if err := e.entries[i].check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, e.entries[i].line, err)
		}
	}
	return e, nil
}

// claimForm is how an entry names claims.
var claimForm = regexp.MustCompile(`^([1-9][0-9]{0,5})/(?:\*|([a-z]+)/(?:\*|([1-9][0-9]{0,5})))$`)

func (x *expectation) check() (err error) {
	old := x.Claim == "" && x.Gap > 0
	m := claimForm.FindStringSubmatch(x.Claim)
	if m != nil && x.Gap == 0 && x.Layer == "" {
		x.Gap, _ = strconv.Atoi(m[1])
		x.Layer = Layer(m[2])
		x.number, _ = strconv.Atoi(m[3])
	} else if !old {
		return fmt.Errorf("claim = %q: want a gap, layer and number, as in 12/api/1, 12/api/* or 12/*", x.Claim)
	}
	whole := m != nil && x.Layer == ""
	switch {
	case !slices.Contains(allLayers, x.Layer) && !whole:
		return fmt.Errorf("layer %q: want tmux, api or mcp", x.Layer)
	case strings.TrimSpace(x.Reason) == "":
		return errors.New("a known failure without reason")
	case old && x.Kind == "" && !place.MatchString(x.Reason):
		return fmt.Errorf("gap, layer and a reason in one's own words do not say what fails: "+
			"want claim = \"%d/%s/*\", kind = \"open\" (or blocked, crash, timeout, unstable) and, in reason, a part of what failed, or \"/./\" for anything", x.Gap, x.Layer)
	case !slices.Contains(failures, x.Kind) && !(old && x.Kind == ""):
		return fmt.Errorf("kind = %q: want open, blocked, crash, timeout or unstable", x.Kind)
	case !slices.Contains([]string{"", "exec", "native", "auto"}, x.Transport):
		return fmt.Errorf("transport %q: want exec, native or auto", x.Transport)
	}
	if n := len(x.Reason); n > 1 && x.Reason[0] == '/' && x.Reason[n-1] == '/' {
		if x.pattern, err = regexp.Compile(x.Reason[1 : n-1]); err != nil {
			return fmt.Errorf("reason = %w", err)
		}
	}
	if x.versions, err = ParseVersions(x.Tmux); err != nil {
		return fmt.Errorf("tmux = %w", err)
	}
	return nil
}

// claim is what the entry is about.
func (x *expectation) claim() string {
	switch {
	case x.Layer == "":
		return fmt.Sprintf("%d/*", x.Gap)
	case x.number == 0:
		return fmt.Sprintf("%d/%s/*", x.Gap, x.Layer)
	}
	return fmt.Sprintf("%d/%s/%d", x.Gap, x.Layer, x.number)
}

// header is the line that an entry begins with, with the comments right above it, and
// targetLine the one that has its targets.
var (
	header     = regexp.MustCompile(`(?m)^((?:#.*\n)*)[ \t]*\[\[ *known *\]\].*\n?`)
	targetLine = regexp.MustCompile(`(?m)^[ \t]*target[ \t]*=[ \t]*"[^"\n]*"`)
	comments   = regexp.MustCompile(`(?m)^(\s*(#.*)?\n)+\z`)
)

// locate finds where in the text the entries are.
func (e *Expectations) locate() error {
	at := header.FindAllSubmatchIndex(e.text, -1)
	if len(at) != len(e.entries) {
		return fmt.Errorf("%s: write each known failure under a [[known]] of its own", e.file)
	}
	for i, m := range at {
		x := &e.entries[i]
		x.line = bytes.Count(e.text[:m[3]], []byte("\n")) + 1
		x.start, x.head, x.end = m[0], m[1], len(e.text)
		if i+1 < len(at) {
			x.end = at[i+1][0]
		}
		// What stands behind it, after a blank line, is not its own.
		if rest := comments.FindIndex(e.text[x.head:x.end]); rest != nil {
			x.end = x.head + rest[0]
		}
		if t := targetLine.FindIndex(e.text[x.head:x.end]); t != nil {
			x.targetAt = [2]int{x.head + t[0], x.head + t[1]}
		}
	}
	return nil
}

// Check finds entries about claims that there are not. claims are how many each gap has for
// a layer.
func (e *Expectations) Check(claims map[int]map[Layer]int) error {
	for _, x := range e.entries {
		n, scripted := claims[x.Gap][x.Layer]
		switch {
		case claims[x.Gap] == nil:
			return fmt.Errorf("%s:%d: there is no gap %d", e.file, x.line, x.Gap)
		case x.Layer != "" && !scripted:
			return fmt.Errorf("%s:%d: gap %d has no script for layer %s", e.file, x.line, x.Gap, x.Layer)
		case x.number > n:
			return fmt.Errorf("%s:%d: there is no claim %s: the last is %d", e.file, x.line, x.Claim, n)
		}
	}
	return nil
}

// covers reports whether the entry is about a claim of a cell on a target.
func (x *expectation) covers(c *Cell, cl *Claim, t Target) bool {
	return x.Gap == c.Gap && (x.Layer == "" || x.Layer == c.Layer) && (x.number == 0 || x.number == cl.Number) &&
		(x.Transport == "" || x.Transport == c.Transport) && x.versions.Has(t.Version) && x.names(t.Name)
}

// names reports whether the entry's targets have one of this name.
func (x *expectation) names(target string) bool {
	if x.Target == "" {
		return true
	}
	others := false
	for name := range strings.SplitSeq(x.Target, ",") {
		name = strings.TrimSpace(name)
		if not, ok := strings.CutPrefix(name, "!"); ok {
			if others = true; not == target {
				return false
			}
		} else if name == target {
			return true
		}
	}
	return others
}

// matches reports whether a claim that the entry covers failed as it says.
func (x *expectation) matches(c *Cell, cl *Claim) bool {
	if !cl.Outcome.Failed() || x.Kind != "" && x.Kind != cl.Outcome {
		return false
	}
	// The cell's reason says more of the first claim that failed.
	return slices.ContainsFunc([]string{cl.Why, c.why(cl)}, func(why string) bool {
		if x.pattern != nil {
			return x.pattern.MatchString(place.ReplaceAllString(why, ""))
		}
		return strings.Contains(reasonOf(why), reasonOf(x.Reason))
	})
}

// mark marks the claims of a cell that are known to fail, and the cell if all are that failed.
func (e *Expectations) mark(c *Cell, t Target) {
	c.Known = nil
	known, unknown := (*Known)(nil), false
	for i := range c.Claims {
		cl := &c.Claims[i]
		cl.Known = nil
		for k := 0; k < len(e.entries) && cl.Known == nil; k++ {
			if x := &e.entries[k]; x.covers(c, cl, t) && x.matches(c, cl) {
				cl.Known = &Known{Reason: x.Reason, Link: x.Link}
				known = cmp.Or(known, cl.Known)
			}
		}
		unknown = unknown || cl.Outcome.Failed() && cl.Known == nil
	}
	if c.Status == Fail && !unknown {
		c.Known = known
	}
}

// Expect reports whether a cell on a target failed as it is known to.
func (e *Expectations) Expect(c Cell, t Target) bool {
	if e == nil {
		return false
	}
	c.Claims = slices.Clone(c.Claims)
	e.mark(&c, t)
	return c.Known != nil
}

// Apply marks the claims of a report whose failure is known, and lists the entries
// that are stale.
func (e *Expectations) Apply(r *Report) {
	r.Stale = nil
	if e == nil {
		return
	}
	for i := range r.Cells {
		e.mark(&r.Cells[i], r.target(r.Cells[i].Tmux))
	}
	for i := range e.entries {
		x := &e.entries[i]
		if passing, failing, _ := r.state(x); len(passing) > 0 {
			r.Stale = append(r.Stale, Stale{
				Gap: x.Gap, Layer: x.Layer, Claim: x.claim(), Tmux: passing, Partly: failing,
				Entry: e.file + ":" + strconv.Itoa(x.line), Known: Known{Reason: x.Reason, Link: x.Link},
			})
		}
	}
}

// state is what became of an entry: the targets on which all that it covers passes, and
// whether something fails elsewhere, as it says or otherwise.
func (r *Report) state(x *expectation) (passing []string, matched, otherwise bool) {
	for _, t := range r.Targets {
		good, bad := false, false
		for i := range r.Cells {
			c := &r.Cells[i]
			for k := range c.Claims {
				cl := &c.Claims[k]
				if c.Tmux != t.Name || !x.covers(c, cl, t) {
					continue
				}
				good = good || cl.Outcome == True || cl.Outcome == Untrue
				bad = bad || cl.Outcome.Failed() || cl.Outcome == Outcome(Errored) || cl.Outcome == Outcome(Flaky)
				matched = matched || x.matches(c, cl)
				otherwise = otherwise || cl.Outcome.Failed() && !x.matches(c, cl)
			}
		}
		if good && !bad {
			passing = append(passing, t.Name)
		}
	}
	return passing, matched, otherwise
}

// target returns the target with this name.
func (r *Report) target(name string) Target {
	for _, t := range r.Targets {
		if t.Name == name {
			return t
		}
	}
	return Target{}
}

// Update returns the text of the expectations file brought in line with the
// report, and one line for each change. It removes an entry when nothing that it covers
// fails as it says any more, takes the targets out of it on which that passes, and adds an
// entry for each unexpected failure, with its reason. Everything else in the text is
// preserved.
func (e *Expectations) Update(r *Report) (text []byte, changes []string, err error) {
	text = slices.Clone(e.text)
	for i := len(e.entries) - 1; i >= 0; i-- {
		x := &e.entries[i]
		passing, matched, otherwise := r.state(x)
		what := "fails otherwise"
		if len(passing) > 0 {
			what = "passes with tmux " + strings.Join(passing, ", ")
		}
		switch {
		case !matched && (len(passing) > 0 || otherwise):
			end := x.end
			if end < len(text) && text[end] == '\n' {
				end++ // the blank line after it
			}
			text = slices.Delete(text, x.start, end)
			changes = append(changes, x.claim()+": removed, "+what)
		case len(passing) > 0:
			line := "target = " + tomlString(x.without(passing))
			if x.targetAt[1] > 0 {
				text = slices.Replace(text, x.targetAt[0], x.targetAt[1], []byte(line)...)
			} else {
				text = slices.Insert(text, x.head, []byte(line+"\n")...)
			}
			changes = append(changes, x.claim()+": "+what+", now "+line)
		}
	}
	slices.Reverse(changes)
	added, names := r.newEntries()
	switch {
	case len(added) == 0:
	case len(text) == 0:
		text = append(text, "# Known failures of mcp-conform: where, which claim, how it fails, a part of why, and where more is to be read.\n"...)
	case text[len(text)-1] != '\n':
		text = append(text, '\n')
	}
	text, changes = append(text, added...), append(changes, names...)

	// What was written says what was meant, or it is not written.
	again, err := ParseExpectations(e.file, text)
	if err != nil {
		return nil, nil, err
	}
	check := *r
	check.Cells = slices.Clone(r.Cells)
	for i := range check.Cells {
		check.Cells[i].Claims = slices.Clone(r.Cells[i].Claims)
	}
	again.Apply(&check)
	for i := range check.Cells {
		if c := &check.Cells[i]; c.Status == Fail && c.Known == nil {
			return nil, nil, fmt.Errorf("%s: no entry can say how %d/%s fails with tmux %s: %s", e.file, c.Gap, c.Layer, c.Tmux, c.Reason)
		}
	}
	for _, s := range check.Stale {
		return nil, nil, fmt.Errorf("%s: narrow this entry by hand: %v", e.file, s)
	}
	return text, changes, nil
}

// without are the entry's targets without some.
func (x *expectation) without(passing []string) string {
	var names []string
	for name := range strings.SplitSeq(x.Target, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(passing, name) {
			names = append(names, name)
		}
	}
	if x.Target == "" || strings.Contains(x.Target, "!") {
		for _, name := range passing {
			names = append(names, "!"+name)
		}
	}
	return strings.Join(names, ", ")
}

// maxReason is the most that a new entry has of a reason, in characters.
const maxReason = 200

// newEntries are the entries for the failures that were not expected: one for
// each claim, kind, transport and reason.
func (r *Report) newEntries() (text []byte, names []string) {
	for _, g := range r.groups(func(c *Cell, cl *Claim) any {
		if c.Status != Fail || !cl.Outcome.Failed() || cl.Known != nil {
			return nil
		}
		return [4]string{c.id(cl), string(cl.Outcome), c.Transport, reasonOf(cl.Why)}
	}) {
		reason := []rune(strings.Join(strings.Fields(Printable(place.ReplaceAllString(g.Claim.Why, ""))), " "))
		id, list := g.id(&g.Claim), strings.Join(g.Targets, ", ")
		text = fmt.Appendf(text, "\n[[known]]\ntarget = %s\nclaim = %q\nkind = %q\n", tomlString(list), id, g.Claim.Outcome)
		if g.Transport != "exec" && g.Transport != "" {
			text = fmt.Appendf(text, "transport = %q\n", g.Transport)
		}
		text = fmt.Appendf(text, "reason = %s\nlink = \"\"\n", tomlString(strings.TrimSpace(string(reason[:min(len(reason), maxReason)]))))
		names = append(names, fmt.Sprintf("%s: added, %s with tmux %s", id, g.Claim.Outcome, list))
	}
	return text, names
}

// tomlString quotes a text that is on one line and has no control bytes.
func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// TOMLError says what is wrong with a TOML file, and on which line.
func TOMLError(file string, err error, keys string) error {
	var unknown *toml.StrictMissingError
	var syntax *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		row, _ := unknown.Errors[0].Position()
		return fmt.Errorf("%s:%d: unknown key %s: want %s", file, row, strings.Join(unknown.Errors[0].Key(), "."), keys)
	case errors.As(err, &syntax):
		row, _ := syntax.Position()
		return fmt.Errorf("%s:%d: %s", file, row, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", file, err)
}

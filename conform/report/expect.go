package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Expectations are known failures, listed in a TOML file whose form docs/mcp-conform.md
// documents. The nil Expectations have no entry.
//
// A claim that fails as an entry says does not make the run fail. One that fails in another way
// does, and so does a stale entry, whose claims are all true or not offered. Claims that do not
// apply, are skipped or are flaky count as neither. An error of the runner is never expected.
type Expectations struct {
	file    string
	lines   []string
	server  [2]string // that the run asks: its name and its command
	apis    []API
	entries []expectation
}

type expectation struct {
	Claim, Target, Tmux, Transport, Server, API string
	Kind                                        Outcome
	Known
	id       claimID // that Claim names
	versions Versions
	pattern  *regexp.Regexp
	// The entry has the lines from begin to end, with the comments right above its header.
	// What stands behind it, after a blank line, is not its own.
	begin, header, end int
}

// ParseExpectations reads the text of a file.
func ParseExpectations(file string, text []byte) (*Expectations, error) {
	e := &Expectations{file: file, lines: strings.SplitAfter(string(text), "\n")}
	var doc struct {
		Known []expectation `toml:"known"`
	}
	if err := DecodeTOML(file, text, &doc, "[[known]] with target, tmux, server, api, claim, transport, kind, reason and link"); err != nil {
		return nil, err
	}
	e.entries = doc.Known
	var headers []int
	for i, line := range e.lines {
		if headerLine.MatchString(line) {
			headers = append(headers, i)
		}
	}
	if len(headers) != len(e.entries) {
		return nil, fmt.Errorf("%s: write each known failure under a [[known]] of its own", file)
	}
	for i, header := range headers {
		x := &e.entries[i]
		x.begin, x.header, x.end = header, header, len(e.lines)
		if i+1 < len(headers) {
			x.end = headers[i+1]
		}
		for x.begin > 0 && strings.HasPrefix(e.lines[x.begin-1], "#") {
			x.begin--
		}
		for noKey.MatchString(e.lines[x.end-1]) {
			x.end--
		}
	}
	for i := range e.entries {
		if err := e.entries[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %w", e.at(&e.entries[i]), err)
		}
	}
	return e, nil
}

var (
	noKey      = regexp.MustCompile(`^\s*(#.*)?\n?$`)
	headerLine = regexp.MustCompile(`^[ \t]*\[\[ *known *\]\]`)
	targetLine = regexp.MustCompile(`^[ \t]*target[ \t]*=[ \t]*"[^"\n]*"`)
)

// Text returns the text of the file.
func (e *Expectations) Text() []byte { return []byte(strings.Join(e.lines, "")) }

// at returns the place of an entry as compilers do, FILE:LINE.
func (e *Expectations) at(x *expectation) string { return fmt.Sprintf("%s:%d", e.file, x.header+1) }

func (x *expectation) check() (err error) {
	if x.id, err = parseClaimID(x.Claim); err != nil {
		return fmt.Errorf("claim = %w", err)
	}
	switch {
	case strings.TrimSpace(x.Reason) == "":
		return errors.New("a known failure without reason")
	case !slices.Contains(failures, x.Kind):
		return fmt.Errorf("kind = %q: want open, blocked, crash, timeout or unstable", x.Kind)
	case x.Server != "" && x.id.Layer != "" && x.id.Layer != MCPLayer:
		return fmt.Errorf("server = %q: only layer mcp asks a server: claim %s is of layer %s", x.Server, x.Claim, x.id.Layer)
	case x.API != "" && x.id.Layer != "" && x.id.Layer != APILayer:
		return fmt.Errorf("api = %q: only layer api asks a wrapper: claim %s is of layer %s", x.API, x.Claim, x.id.Layer)
	case !goodAPIs(x.API):
		return fmt.Errorf(`api = %q: want names of wrappers, each with versions behind it or none, as in "libtmux >=0.57, !go"`, x.API)
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

// Check reports entries about claims that do not exist. claims has their number, by gap and
// layer.
func (e *Expectations) Check(claims map[int]map[Layer]int) error {
	for i := range e.entries {
		x := &e.entries[i]
		n, scripted := claims[x.id.Gap][x.id.Layer]
		switch {
		case claims[x.id.Gap] == nil:
			return fmt.Errorf("%s: there is no gap %d", e.at(x), x.id.Gap)
		case x.id.Layer != "" && !scripted:
			return fmt.Errorf("%s: gap %d has no script for layer %s", e.at(x), x.id.Gap, x.id.Layer)
		case x.id.Number > n:
			return fmt.Errorf("%s: there is no claim %s: the last is %d", e.at(x), x.Claim, n)
		}
	}
	return nil
}

// builtIn is what the program's own server calls itself.
const builtIn = "tmux"

// Of gives the expectations the MCP server and the wrappers of a report, which entries can name.
func (e *Expectations) Of(r *Report) {
	if e != nil {
		e.apis = r.APIs
		e.server = [2]string{oneLine(r.ServerName), oneLine(r.Server)}
		if r.Server == "" {
			e.server[0] = builtIn
		}
	}
}

// covers reports whether the entry is about a result on a target.
func (e *Expectations) covers(x *expectation, c result, t Target) bool {
	return x.id.has(c.ID()) && (x.Transport == "" || x.Transport == c.Transport) && x.versions.Has(t.Version) &&
		namedIn(x.Target, " ,", t.Name) &&
		(x.Server == "" || c.Layer == MCPLayer && (x.Server == e.server[1] || namedIn(x.Server, ",", e.server[0]))) &&
		(x.API == "" || c.Layer == APILayer && e.namesAPI(x.API, c.API))
}

// namesAPI reports whether a list of an entry has a wrapper of the run: by its whole name, or by
// the one without its version, with a range of versions behind it or none.
func (e *Expectations) namesAPI(list, name string) bool {
	a := API{Name: name}
	if found := first(e.apis, func(o *API) bool { return o.Name == name }); found != nil {
		a = *found
	}
	is := func(item string) bool {
		bare, versions := item, ""
		if i := strings.IndexAny(item, "<>="); i >= 0 {
			bare, versions = strings.TrimSpace(item[:i]), item[i:]
		}
		r, ok := parseRange(versions)
		return item == oneLine(a.Name) || ok && bare == a.bare() && r.has(a.version())
	}
	items, others := names(list, ",")
	for _, item := range items {
		if not, excludes := strings.CutPrefix(item, "!"); excludes && is(not) {
			return false
		} else if !excludes && is(item) {
			return true
		}
	}
	return others
}

// goodAPIs reports whether every item of a list can name a wrapper.
func goodAPIs(list string) bool {
	items, _ := names(list, ",")
	return !slices.ContainsFunc(items, func(item string) bool {
		name := strings.TrimPrefix(item, "!")
		i := strings.IndexAny(name+"=", "<>=")
		_, ok := parseRange(name[i:])
		return strings.TrimSpace(name[:i]) == "" || !ok
	})
}

// names returns the names in a list of an entry, which has one of these separators between
// them, and whether it means all others.
func names(list, separators string) (names []string, others bool) {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		names = append(names, strings.TrimSpace(name))
	}
	return names, len(names) == 0 || strings.Contains(list, "!")
}

// oneLine returns a text without line breaks and control characters, for an entry.
func oneLine(text string) string { return strings.Join(strings.Fields(Printable(text)), " ") }

// namedIn reports whether a list of an entry has a name.
func namedIn(list, separators, name string) bool {
	names, others := names(list, separators)
	return slices.Contains(names, name) || others && !slices.Contains(names, "!"+name)
}

// matches reports whether a claim that the entry covers failed as it says.
func (x *expectation) matches(c result) bool {
	if !c.Claim.Outcome.Failed() || x.Kind != c.Claim.Outcome {
		return false
	}
	// The cell's reason says more of the first claim that failed.
	return slices.ContainsFunc([]string{c.Claim.Why, c.Why()}, func(why string) bool {
		if x.pattern != nil {
			return x.pattern.MatchString(place.ReplaceAllString(why, ""))
		}
		return strings.Contains(reasonOf(why), reasonOf(x.Reason))
	})
}

// mark marks the known failures of a cell, and the cell itself if it has no others.
func (e *Expectations) mark(c *Cell, t Target) {
	c.Known = nil
	known, unknown := (*Known)(nil), false
	for i := range c.Claims {
		cl := result{c, &c.Claims[i]}
		cl.Claim.Known = nil
		for k := 0; k < len(e.entries) && cl.Claim.Known == nil; k++ {
			if x := &e.entries[k]; e.covers(x, cl, t) && x.matches(cl) {
				cl.Claim.Known = &x.Known
				known = cmp.Or(known, cl.Claim.Known)
			}
		}
		unknown = unknown || cl.Claim.Outcome.Failed() && c.counts(cl.Claim) && cl.Claim.Known == nil
	}
	if c.Status == Fail && !unknown {
		c.Known = known
	}
}

// Expect reports whether all failures of a cell on a target are known.
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
	e.Of(r)
	for i := range r.Cells {
		e.mark(&r.Cells[i], r.target(r.Cells[i].Tmux))
	}
	for i := range e.entries {
		x := &e.entries[i]
		if passing, failing, _ := e.state(r, x); len(passing) > 0 {
			r.Stale = append(r.Stale, Stale{
				Gap: x.id.Gap, Layer: x.id.Layer, Claim: x.Claim, Tmux: passing, Partly: failing,
				Entry: e.at(x), Known: x.Known,
			})
		}
	}
}

// state returns the targets on which nothing that an entry covers fails, and whether something
// fails elsewhere, as the entry says or otherwise.
func (e *Expectations) state(r *Report, x *expectation) (passing []string, matched, otherwise bool) {
	for _, t := range r.Targets {
		good, bad := false, false
		for _, c := range r.results() {
			if c.Tmux != t.Name || !e.covers(x, c, t) {
				continue
			}
			good = good || slices.Contains([]Outcome{True, Untrue, Outcome(NotOffered)}, c.Claim.Outcome)
			bad = bad || c.Failed() || c.Claim.Outcome == Outcome(Flaky)
			matched = matched || x.matches(c)
			otherwise = otherwise || c.Claim.Outcome.Failed() && !x.matches(c)
		}
		if good && !bad {
			passing = append(passing, t.Name)
		}
	}
	return passing, matched, otherwise
}

// Update returns the expectations brought in line with the report, which it marks by them,
// and one line for each change. It removes an entry when nothing that it covers
// fails as it says any more, takes the targets out of it on which that passes, and adds an
// entry for each unexpected failure, with its reason. Everything else in the text is
// preserved.
func (e *Expectations) Update(r *Report) (updated *Expectations, changes []string, err error) {
	e.Of(r)
	lines := slices.Clone(e.lines)
	for _, x := range slices.Backward(e.entries) { // so that the lines of the others stay where they are
		passing, matched, otherwise := e.state(r, &x)
		what := "fails otherwise"
		if len(passing) > 0 {
			what = "does not fail with tmux " + strings.Join(passing, ", ")
		}
		switch {
		case !matched && (len(passing) > 0 || otherwise):
			if x.end < len(lines) && lines[x.end] == "\n" {
				x.end++ // the blank line after it
			}
			lines = slices.Delete(lines, x.begin, x.end)
			changes = append(changes, x.Claim+": removed, "+what)
		case len(passing) > 0:
			target := "target = " + tomlString(x.without(passing))
			if own := first(lines[x.begin:x.end], func(l *string) bool { return targetLine.MatchString(*l) }); own != nil {
				*own = targetLine.ReplaceAllLiteralString(*own, target)
			} else {
				lines = slices.Insert(lines, x.header+1, target+"\n")
			}
			changes = append(changes, x.Claim+": "+what+", now "+target)
		}
	}
	slices.Reverse(changes)
	text := strings.Join(lines, "")
	added, names := r.newEntries()
	switch {
	case len(added) == 0:
	case text == "":
		text = "# Known failures of mcp-conform: where, which claim, how it fails, a part of why, and where more is to be read.\n"
	case !strings.HasSuffix(text, "\n"):
		text += "\n"
	}

	// Parse what would be written: a file that does not say what was meant must not be written.
	if updated, err = ParseExpectations(e.file, []byte(text+added)); err == nil {
		err = updated.explain(r)
	}
	if err != nil {
		e.Apply(r)
		return nil, nil, err
	}
	return updated, append(changes, names...), nil
}

// explain marks a report, and returns an error if a failure is still unexpected or an entry stale.
func (e *Expectations) explain(r *Report) error {
	e.Apply(r)
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Status == Fail && c.Known == nil {
			return fmt.Errorf("%s: no entry can say how %d/%s fails with tmux %s: %s", e.file, c.Gap, c.Layer, c.Tmux, c.Reason)
		}
	}
	for _, s := range r.Stale {
		return fmt.Errorf("%s: narrow this entry by hand: %v", e.file, s)
	}
	return nil
}

// without returns the entry's targets without those that pass.
func (x *expectation) without(passing []string) string {
	names, others := names(x.Target, " ,")
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(passing, name) })
	if others {
		for _, name := range passing {
			names = append(names, "!"+name)
		}
	}
	return strings.Join(names, ", ")
}

// maxReason is the most that a new entry has of a reason, in characters.
const maxReason = 200

// ofServer reports whether a failure is the fault of another wrapper or server and not of a tmux:
// the claim is true on no target.
func (r *Report) ofServer(c result) bool {
	foreign := r.Server != "" && c.Layer == MCPLayer || c.Layer == APILayer && c.Transport == ""
	return foreign && !slices.ContainsFunc(r.results(), func(o result) bool {
		return o.ID() == c.ID() && o.API == c.API && o.Claim.Outcome == True
	})
}

// newEntries returns the entries for the failures that were not expected, one for each claim,
// kind, transport and reason, and a line about each.
func (r *Report) newEntries() (text string, names []string) {
	for _, g := range r.groups(func(c result) any {
		if c.Status != Fail || !c.Claim.Outcome.Failed() || !c.counts(c.Claim) || c.Claim.Known != nil {
			return nil
		}
		return [5]any{c.ID(), c.API, c.Claim.Outcome, c.Transport, reasonOf(c.Claim.Why)}
	}) {
		reason := []rune(oneLine(place.ReplaceAllString(g.Claim.Why, "")))
		id, list := g.ID(), strings.Join(g.Targets, ", ")
		target := fmt.Sprintf("target = %s\n", tomlString(list))
		if r.ofServer(g.result) {
			target = ""
		}
		if g.Layer == MCPLayer && r.Server != "" {
			target += fmt.Sprintf("server = %s\n", tomlString(cmp.Or(oneLine(r.ServerName), oneLine(r.Server))))
		}
		if a := apiOf(r, g.API); a != nil && !goOnly(r) {
			target += fmt.Sprintf("api = %s\n", tomlString(oneLine(a.key(r))))
		}
		text += fmt.Sprintf("\n[[known]]\n%sclaim = \"%v\"\nkind = %q\n", target, id, g.Claim.Outcome)
		if g.Transport != "exec" && g.Transport != "" {
			text += fmt.Sprintf("transport = %q\n", g.Transport)
		}
		text += fmt.Sprintf("reason = %s\nlink = \"\"\n", tomlString(strings.TrimSpace(string(reason[:min(len(reason), maxReason)]))))
		names = append(names, fmt.Sprintf("%v: added, %s with tmux %s", id, g.Claim.Outcome, list))
	}
	return text, names
}

// tomlString quotes a text that is on one line and has no control bytes.
func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// DecodeTOML decodes a TOML file. Its error says what is wrong and on which line; keys is what
// the file may have.
func DecodeTOML(file string, text []byte, doc any, keys string) error {
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(doc)
	var unknown *toml.StrictMissingError
	var syntax *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		row, _ := unknown.Errors[0].Position()
		return fmt.Errorf("%s:%d: unknown key %s: want %s", file, row, strings.Join(unknown.Errors[0].Key(), "."), keys)
	case errors.As(err, &syntax):
		row, _ := syntax.Position()
		return fmt.Errorf("%s:%d: %s", file, row, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", file, err)
}

package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Expectations are failures that are known, as a file of TOML lists them:
//
//	[[known]]
//	gap = 12
//	layer = "api"
//	tmux = ">=3.4 <3.6"
//	reason = "run-shell's standard error is lost"
//	link = "https://example.org/issues/7"
//
// A cell that an entry matches and that fails is known to: it does not make the
// run fail. One that passes does: the entry is stale. What does not apply, is
// skipped or is flaky is neither. An error of the runner is never expected.
// tmux is a range (see versions.go), transport a way to reach it; without them
// the entry is about all. gap, layer and reason are required. The nil
// Expectations have no entry.
type Expectations struct {
	file    string
	text    []byte
	entries []expectation
}

type expectation struct {
	Gap       int    `toml:"gap"`
	Layer     Layer  `toml:"layer"`
	Tmux      string `toml:"tmux"`
	Transport string `toml:"transport"`
	Reason    string `toml:"reason"`
	Link      string `toml:"link"`

	versions Versions
	line     int
	// In the text the entry is from start to end, with the comments right above it;
	// its header ends at head.
	start, head, end int
	// tmuxAt is the range of the line that has the versions; empty for none.
	tmuxAt [2]int
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
		return nil, TOMLError(file, err, "[[known]] with gap, layer, tmux, transport, reason and link")
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

func (x *expectation) check() (err error) {
	switch {
	case x.Gap <= 0:
		return errors.New("a known failure without gap, its number")
	case !slices.Contains(allLayers, x.Layer):
		return fmt.Errorf("layer %q: want tmux, api or mcp", x.Layer)
	case strings.TrimSpace(x.Reason) == "":
		return errors.New("a known failure without reason")
	case !slices.Contains([]string{"", "exec", "native", "auto"}, x.Transport):
		return fmt.Errorf("transport %q: want exec, native or auto", x.Transport)
	}
	if x.versions, err = ParseVersions(x.Tmux); err != nil {
		return fmt.Errorf("tmux = %w", err)
	}
	return nil
}

// locate finds where in the text the entries are.
func (e *Expectations) locate() error {
	var p unstable.Parser
	p.Reset(e.text)
	n := -1
	for p.NextExpression() {
		node := p.Expression()
		keys := node.Key()
		if !keys.Next() {
			continue
		}
		key := keys.Node()
		from := int(key.Raw.Offset)
		if node.Kind == unstable.ArrayTable {
			n++
			if n == len(e.entries) {
				break
			}
			x := &e.entries[n]
			x.line = bytes.Count(e.text[:from], []byte("\n")) + 1
			x.start, x.head = lineStart(e.text, from), lineEnd(e.text, from)
			x.end = x.head
			for x.start > 0 && e.text[lineStart(e.text, x.start-1)] == '#' {
				x.start = lineStart(e.text, x.start-1)
			}
			continue
		}
		if n < 0 || node.Kind != unstable.KeyValue {
			continue
		}
		x := &e.entries[n]
		start, end := int(node.Raw.Offset), int(node.Raw.Offset+node.Raw.Length)
		x.end = lineEnd(e.text, end)
		if string(key.Data) == "tmux" {
			x.tmuxAt = [2]int{start, end}
		}
	}
	if err := p.Error(); err != nil {
		return fmt.Errorf("%s: %w", e.file, err)
	}
	if n+1 != len(e.entries) {
		return fmt.Errorf("%s: write each known failure under a [[known]] of its own", e.file)
	}
	return nil
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is where the next line begins.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// Check finds entries about gaps that there are not. layers are those that each gap has a
// script for.
func (e *Expectations) Check(layers map[int][]Layer) error {
	for _, x := range e.entries {
		of, ok := layers[x.Gap]
		switch {
		case !ok:
			return fmt.Errorf("%s:%d: there is no gap %d", e.file, x.line, x.Gap)
		case !slices.Contains(of, x.Layer):
			return fmt.Errorf("%s:%d: gap %d has no script for layer %s", e.file, x.line, x.Gap, x.Layer)
		}
	}
	return nil
}

func (x *expectation) matches(c *Cell, version string) bool {
	return x.Gap == c.Gap && x.Layer == c.Layer && (x.Transport == "" || x.Transport == c.Transport) && x.versions.Has(version)
}

// Find returns the first entry that expects the cell to fail, if it has failed, and nil otherwise.
func (e *Expectations) Find(c *Cell, version string) *expectation {
	if e == nil || c.Status != Fail {
		return nil
	}
	for i := range e.entries {
		if e.entries[i].matches(c, version) {
			return &e.entries[i]
		}
	}
	return nil
}

// Apply marks the cells of a report whose failure is known, and lists the entries
// that are stale.
func (e *Expectations) Apply(r *Report) {
	r.Stale = nil
	if e == nil {
		return
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Known = nil
		if x := e.Find(c, r.version(c.Tmux)); x != nil {
			c.Known = &Known{Reason: x.Reason, Link: x.Link}
		}
		for k := range c.Claims {
			c.Claims[k].Known = nil
			if c.Claims[k].Outcome.Failed() {
				c.Claims[k].Known = c.Known
			}
		}
	}
	for i := range e.entries {
		x := &e.entries[i]
		if passing := r.matching(x, Pass); len(passing) > 0 {
			r.Stale = append(r.Stale, Stale{
				Gap: x.Gap, Layer: x.Layer, Tmux: passing,
				Entry: e.file + ":" + strconv.Itoa(x.line), Known: Known{Reason: x.Reason, Link: x.Link},
			})
		}
	}
}

// matching are the targets on which a cell that the entry is about came to a
// status.
func (r *Report) matching(x *expectation, s Status) []string {
	var targets []string
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Status == s && x.matches(c, r.version(c.Tmux)) {
			targets = append(targets, c.Tmux)
		}
	}
	return targets
}

// version returns the version of the target with this name.
func (r *Report) version(target string) string {
	for _, t := range r.Targets {
		if t.Name == target {
			return t.Version
		}
	}
	return ""
}

// Update returns the text of the expectations file brought in line with the
// report, and one line for each change. It removes an entry when nothing that it
// covers fails any more, narrows its range of versions when part of that passes, and
// adds an entry for each unexpected failure, with the failure's reason. Everything
// else in the text is preserved.
func (e *Expectations) Update(r *Report) (text []byte, changes []string, err error) {
	text = slices.Clone(e.text)
	for i := len(e.entries) - 1; i >= 0; i-- {
		x := &e.entries[i]
		passing := r.matching(x, Pass)
		if len(passing) == 0 {
			continue
		}
		what := fmt.Sprintf("gap %d, layer %s", x.Gap, x.Layer)
		if len(r.matching(x, Fail)) == 0 {
			end := x.end
			if end < len(text) && text[end] == '\n' {
				end++ // the blank line after it
			}
			text = slices.Delete(text, x.start, end)
			changes = append(changes, what+": removed, passes with tmux "+strings.Join(passing, ", "))
			continue
		}
		narrow := x.versions
		for _, target := range passing {
			if narrow, err = narrow.without(r.version(target)); err != nil {
				return nil, nil, err
			}
		}
		line := "tmux = " + strconv.Quote(narrow.String())
		if x.tmuxAt[1] > 0 {
			text = slices.Replace(text, x.tmuxAt[0], x.tmuxAt[1], []byte(line)...)
		} else {
			text = slices.Insert(text, x.head, []byte(line+"\n")...)
		}
		changes = append(changes, what+": passes with tmux "+strings.Join(passing, ", ")+", now "+line)
	}
	slices.Reverse(changes)
	added, names := r.newEntries()
	switch {
	case len(added) == 0:
	case len(text) == 0:
		text = append(text, "# Known failures of mcp-conform: gap, layer, versions of tmux, why, and where more is to be read.\n"...)
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
	again.Apply(&check)
	for i := range check.Cells {
		if c := &check.Cells[i]; c.Unexpected() && c.Status == Fail || slices.ContainsFunc(check.Stale, func(s Stale) bool {
			return s.Gap == c.Gap && s.Layer == c.Layer && slices.Contains(s.Tmux, c.Tmux)
		}) {
			return nil, nil, fmt.Errorf("%s: gap %d, layer %s fails with one tmux and passes with another of the same version; known failures cannot distinguish them", e.file, c.Gap, c.Layer)
		}
	}
	return text, changes, nil
}

// newEntries are the entries for the failures that were not expected: one for
// each gap, layer, transport and reason.
func (r *Report) newEntries() (text []byte, names []string) {
	type key struct {
		gap       int
		layer     Layer
		transport string
		reason    string
	}
	var order []key
	versions := map[key][]string{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Status != Fail || c.Known != nil {
			continue
		}
		k := key{gap: c.Gap, layer: c.Layer, reason: strings.Join(strings.Fields(Printable(c.Reason)), " ")}
		if c.Transport != "exec" {
			k.transport = c.Transport
		}
		if k.reason == "" {
			k.reason = "fails"
		}
		if versions[k] == nil {
			order = append(order, k)
		}
		if v := r.version(c.Tmux); !slices.Contains(versions[k], v) {
			versions[k] = append(versions[k], v)
		}
	}
	for _, k := range order {
		list := strings.Join(versions[k], ", ")
		text = fmt.Appendf(text, "\n[[known]]\ngap = %d\nlayer = %q\ntmux = %q\n", k.gap, k.layer, list)
		if k.transport != "" {
			text = fmt.Appendf(text, "transport = %q\n", k.transport)
		}
		text = fmt.Appendf(text, "reason = %s\nlink = \"\"\n", tomlString(k.reason))
		names = append(names, fmt.Sprintf("gap %d, layer %s: added, fails with tmux %s", k.gap, k.layer, list))
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

package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/internal/tokens"
	"tmuxmcp/tmux"
)

// A Table is the typed table of tokens, the text of fixtures/tokens.json.
type Table struct {
	text []byte
	rows []tokens.Token
}

// ParseTable reads the table and checks it.
func ParseTable(text []byte) (*Table, error) {
	rows, err := tokens.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Table{text: text, rows: rows}, nil
}

// Text is the table as it was read, or updated.
func (t *Table) Text() []byte { return t.text }

// Source is the Go source that is generated from the table, tmux/tokens_gen.go.
func (t *Table) Source() ([]byte, error) { return tokens.Generate(t.rows) }

// Names returns the tokens that a tmux may be asked for: all, except on tmux 3.2 the
// tokens that kill its server.
func (t *Table) Names(v tmux.Version) []string {
	var names []string
	for _, r := range t.rows {
		if !r.Scoped || v.Has(tmux.Version{Major: 3, Minor: 3}) {
			names = append(names, r.Name)
		}
	}
	return names
}

// An Inventory is what one tmux has.
type Inventory struct {
	Version tmux.Version
	Entries []Entry
	// Asked are the names that a server was asked for ([Probe]); nil when the entries
	// are the whole of tmux's own table.
	Asked []string
	// Details are what the source says about each token; nil without the source.
	Details map[string]Detail
}

// The values of Change.Change.
const (
	Added   = "added"   // tmux has it, and the table does not know it
	Removed = "removed" // the table says that this tmux has it, and it does not
	Early   = "early"   // tmux has it, and the table says that a later one brought it
	Back    = "back"    // tmux has it, and the table says that an earlier one was the last
	Kind    = "kind"    // a time for one of them and not for the other
)

// A Change is one difference between the table and a tmux.
type Change struct {
	Token  string `json:"token"`
	Change string `json:"change"`
	// Scope and Type are from the table. For an added token they are a guess, from the
	// source if there is one, else from the name.
	Scope string `json:"scope"`
	Type  string `json:"type"`
	// Since and Until are what the table says.
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"`
}

// Drift compares the table with what a tmux has, in the order of names. What a
// development version does not have yet, or has still, of the release it leads to is no drift.
func (t *Table) Drift(inv Inventory) []Change {
	var changes []Change
	series := seriesOf(inv.Version)
	has := make(map[string]Entry, len(inv.Entries))
	for _, e := range inv.Entries {
		has[e.Name] = e
	}
	for _, r := range t.rows {
		e, there := has[r.Name]
		delete(has, r.Name)
		change := Change{Token: r.Name, Scope: r.Scope, Type: r.Type, Since: r.Since, Until: r.Until}
		came := compareSeries(r.Since, series) <= 0
		gone := r.Until != "" && compareSeries(r.Until, series) < 0
		newest := inv.Version.Next && (r.Since == series || r.Until != "" && r.Until == before(series))
		switch {
		case there && inv.Asked == nil && e.Time != (r.Type == "time"):
			change.Change = Kind
		case there && !came:
			change.Change = Early
		case there && gone && !newest:
			change.Change = Back
		case !there && came && !gone && !newest && (inv.Asked == nil || slices.Contains(inv.Asked, r.Name)):
			change.Change = Removed
		default:
			continue
		}
		changes = append(changes, change)
	}
	for name, e := range has {
		d, ok := inv.Details[name]
		if !ok {
			d = t.guess(name)
		}
		if e.Time {
			d.Type = "time"
		}
		changes = append(changes, Change{Token: name, Change: Added, Scope: d.Scope, Type: d.Type})
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Token, b.Token) })
	return changes
}

// Update returns the table with the changes of one tmux made in it. An added
// token's row says in its note what is to be looked at. Rows that are not concerned
// keep every byte. A change of kind is left to people.
func (t *Table) Update(inv Inventory, changes []Change) (*Table, error) {
	rows, err := t.lines()
	if err != nil {
		return nil, err
	}
	series := seriesOf(inv.Version)
	for _, c := range changes {
		i, found := slices.BinarySearchFunc(t.rows, c.Token, func(r tokens.Token, name string) int { return strings.Compare(r.Name, name) })
		if found != (c.Change != Added) {
			return nil, fmt.Errorf("token %s is not %s", c.Token, c.Change)
		}
		switch c.Change {
		case Added:
			row := tokens.Token{
				Name: c.Token, Scope: c.Scope, Type: c.Type, Since: series,
				Doc:  "Came with tmux " + series + "; not described yet.",
				Note: "Scope and type are guessed from the name; check them.",
			}
			if _, ok := inv.Details[c.Token]; ok {
				row.Note = "Scope and type are guessed from the source; check them."
			}
			t = &Table{rows: slices.Insert(slices.Clone(t.rows), i, row)}
			rows = slices.Insert(rows, i, rowLine(row))
		case Removed:
			last := before(series)
			if last == "" || compareSeries(last, t.rows[i].Since) < 0 {
				return nil, fmt.Errorf("token %s: the table says that it came with tmux %s, and %s does not have it: correct the table by hand", c.Token, c.Since, inv.Version)
			}
			rows[i] = untilField.ReplaceAllString(rows[i], "")
			rows[i] = sinceField.ReplaceAllString(rows[i], `${0}, "until": "`+last+`"`)
		case Early:
			rows[i] = sinceField.ReplaceAllString(rows[i], `"since": "`+series+`"`)
		case Back:
			rows[i] = untilField.ReplaceAllString(rows[i], "")
		}
	}
	updated, err := ParseTable([]byte("[\n  " + strings.Join(rows, ",\n  ") + "\n]\n"))
	if err != nil {
		return nil, fmt.Errorf("the updated table: %w", err)
	}
	return updated, nil
}

var (
	sinceField = regexp.MustCompile(`"since": "[^"]*"`)
	untilField = regexp.MustCompile(`, "until": "[^"]*"`)
)

// lines are the rows' lines in the text, which has one for each.
func (t *Table) lines() ([]string, error) {
	text := strings.TrimSpace(string(t.text))
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	lines := strings.Split(text, "\n")
	if len(lines) != len(t.rows) {
		return nil, errors.New("the token table does not have one row on each line")
	}
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSpace(line), ",")
		var row tokens.Token
		if err := json.Unmarshal([]byte(lines[i]), &row); err != nil || row.Name != t.rows[i].Name {
			return nil, fmt.Errorf("the token table does not have one row on each line: %s", line)
		}
	}
	return lines, nil
}

// rowLine is a new row as the table has it.
func rowLine(r tokens.Token) string {
	var fields []string
	for _, f := range []struct{ name, value string }{
		{"name", r.Name}, {"scope", r.Scope}, {"type", r.Type}, {"since", r.Since}, {"doc", r.Doc}, {"note", r.Note},
	} {
		fields = append(fields, fmt.Sprintf("%q: %q", f.name, f.value))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func seriesOf(v tmux.Version) string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

func compareSeries(a, b string) int {
	va, _ := tmux.ParseVersion(a)
	vb, _ := tmux.ParseVersion(b)
	return va.Compare(vb)
}

// before returns the release series before one, or "" if it is not known.
func before(series string) string {
	v, err := tmux.ParseVersion(series)
	if err != nil || v.Minor == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.Major, v.Minor-1)
}

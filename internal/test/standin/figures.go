package standin

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Figures are what models read of tmux-mcp through each client, as measured by the tests
// with the clients. They are kept in figures.tsv: the tests compare with it, and the docs
// are made from it.
type Figures struct {
	Clients []string
	Rows    []Row
}

// Row is one thing that a model reads.
type Row struct {
	Name  string
	Goal  int  // maximum in bytes; 0: none
	Shape bool // it is about the client instead of a result
	// Before and Now have a cell for each client. Before are the results of the first
	// measurement, all JSON; Now are the expected ones.
	Before, Now []Cell
}

// Cell is what one client showed.
type Cell struct {
	// Form is text or json; in a row about the client, the value itself.
	Form  string
	Bytes int
	// Lost is set if the model does not find in it what it asked for.
	Lost bool
}

// IsZero reports whether nothing was measured.
func (c Cell) IsZero() bool { return c == Cell{} }

// String returns the cell as it is in the file.
func (c Cell) String() string {
	if c.IsZero() {
		return "-"
	}
	words := []string{c.Form}
	if c.Bytes > 0 {
		words = append(words, strconv.Itoa(c.Bytes))
	}
	if c.Lost {
		words = append(words, "lost")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func parseCell(s string) (c Cell) {
	words := strings.Fields(strings.TrimPrefix(s, "-"))
	for i, word := range words {
		switch n, err := strconv.Atoi(word); {
		case word == "lost":
			c.Lost = true
		case err == nil && (i > 0 || len(words) == 1):
			c.Bytes = n
		default:
			c.Form = word
		}
	}
	return c
}

//go:embed figures.tsv
var recorded string

// Recorded returns the figures in the file, as of compilation.
func Recorded() Figures {
	var f Figures
	for line := range strings.Lines(recorded) {
		cols := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if f.Clients == nil {
			f.Clients = cols[3:]
			continue
		}
		cells := make([]Cell, len(f.Clients))
		for i, s := range cols[3:] {
			cells[i] = parseCell(s)
		}
		goal, err := strconv.Atoi(cols[1])
		if cols[2] == "before" {
			f.Rows = append(f.Rows, Row{Name: cols[0], Goal: goal, Shape: err != nil, Before: cells})
		}
		f.Rows[len(f.Rows)-1].Now = slices.Clone(cells)
	}
	return f
}

// String returns the content of the file. A row that has not changed since is written once.
func (f Figures) String() string {
	var b strings.Builder
	line := func(name, goal, when string, cells []Cell) {
		b.WriteString(name + "\t" + goal + "\t" + when)
		for _, c := range cells {
			b.WriteString("\t" + c.String())
		}
		b.WriteByte('\n')
	}
	b.WriteString("what\tgoal\twhen\t" + strings.Join(f.Clients, "\t") + "\n")
	for _, r := range f.Rows {
		goal := strconv.Itoa(r.Goal)
		if r.Shape {
			goal = "-"
		}
		line(r.Name, goal, "before", r.Before)
		if !slices.Equal(r.Before, r.Now) {
			line(r.Name, goal, "now", r.Now)
		}
	}
	return b.String()
}

// Row returns the row with a name, or nil.
func (f Figures) Row(name string) *Row {
	for i := range f.Rows {
		if f.Rows[i].Name == name {
			return &f.Rows[i]
		}
	}
	return nil
}

// Markdown returns a table of the rows about the clients, or of the rows about results.
// Changed figures are preceded by the earlier ones.
func (f Figures) Markdown(shape bool) string {
	var b strings.Builder
	goal := "| goal "
	if shape {
		goal = ""
	}
	b.WriteString("| " + goal + "| " + strings.Join(f.Clients, " | ") + " |\n|---" + strings.Repeat("|---", len(goal)/7) +
		strings.Repeat("|---:", len(f.Clients)) + "|\n")
	for _, r := range f.Rows {
		if r.Shape != shape {
			continue
		}
		b.WriteString("| " + r.Name + " |")
		if r.Goal > 0 {
			b.WriteString(" ≤ " + thousands(r.Goal))
		}
		if !shape {
			b.WriteString(" |")
		}
		for i := range f.Clients {
			b.WriteByte(' ')
			if before := r.Before[i]; !before.IsZero() && before != r.Now[i] {
				b.WriteString(before.show() + " → ")
			}
			b.WriteString(r.Now[i].show() + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// show returns a cell for readers: JSON and lost results are marked, text is not.
func (c Cell) show() string {
	var parts []string
	about := c.Form != "" && c.Form != "json" && c.Form != "text"
	switch {
	case about && c.Bytes > 0:
		parts = append(parts, c.Form+" of "+thousands(c.Bytes)+" bytes")
	case about:
		parts = append(parts, c.Form)
	case c.Bytes > 0:
		parts = append(parts, thousands(c.Bytes))
	}
	if c.Form == "json" {
		parts = append(parts, "json")
	}
	if c.Lost {
		parts = append(parts, "†")
	}
	if parts == nil {
		return "–"
	}
	return strings.Join(parts, " ")
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

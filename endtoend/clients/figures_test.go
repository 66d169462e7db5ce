package clients

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The figures are what models read of tmux-mcp through each client: the tables in these
// pages, of the clients and of results. The tests compare with them, or write them if
// MODEL_FIGURES is now.
var figurePages = []string{repo + "/docs/clients.md", repo + "/docs/performance.md"}

// A cell is a figure. Its form is json for a result that is no text or, in a row about the
// client, the value itself. It is lost if the model does not find in it what it asked for.
type cell struct {
	form  string
	bytes int
	lost  bool
}

func (c cell) String() string {
	s := thousands(c.bytes)
	switch {
	case c.form == "json":
		s += " json"
	case c.form != "" && c.bytes > 0:
		s = c.form + " of " + s + " bytes"
	case c.form != "":
		s = c.form
	}
	if c.lost {
		s += " †"
	}
	return s
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

var bytesInCell = regexp.MustCompile(`^(?:(\S+) of )?([0-9,]+)(?: bytes)?( json)?( †)?$`)

// parseCell is the reverse of cell.String.
func parseCell(s string) cell {
	m := bytesInCell.FindStringSubmatch(s)
	if m == nil {
		return cell{form: s}
	}
	n, _ := strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
	return cell{form: m[1] + strings.TrimSpace(m[3]), bytes: n, lost: m[4] != ""}
}

// eachFigure calls do with every figure, which it may change, and returns the pages.
func eachFigure(t *testing.T, do func(row, client string, figure *string)) (pages []string) {
	t.Helper()
	for _, path := range figurePages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, table, begins := strings.Cut(string(text), "<!-- figures")
		table, _, ends := strings.Cut(table, "<!-- end of figures -->")
		if !begins || !ends {
			t.Fatalf("%s has no figures", path)
		}
		var columns []string
		var made strings.Builder
		for line := range strings.Lines(table) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
			switch {
			case len(fields) < 3:
			case columns == nil:
				columns = slices.Clone(fields)
			case !strings.HasPrefix(line, "|-"):
				for i := 2; i < len(fields)-1; i++ {
					if client := strings.TrimSpace(columns[i]); client != "goal" {
						figure := strings.TrimSpace(fields[i])
						do(strings.TrimSpace(fields[1]), client, &figure)
						fields[i] = " " + figure + " "
					}
				}
				line = strings.Join(fields, "|") + "\n"
			}
			made.WriteString(line)
		}
		pages = append(pages, strings.Replace(string(text), table, made.String(), 1))
	}
	return pages
}

// A figureOf is where a figure is.
type figureOf struct{ row, client string }

func figures(t *testing.T) map[figureOf]cell {
	all := map[figureOf]cell{}
	eachFigure(t, func(row, client string, figure *string) { all[figureOf{row, client}] = parseCell(*figure) })
	return all
}

// measured are the figures of this run.
var measured = map[figureOf]cell{}

// compare fails unless a cell is as the figures say: the same form, the same facts and at
// most as many bytes. When figures are written, it is kept if only process ids and times
// differ.
func compare(t *testing.T, client, row, text string, got cell) {
	t.Helper()
	want, known := figures(t)[figureOf{row, client}]
	spread := want.bytes/50 + 20
	same := known && got.form == want.form && got.lost == want.lost && got.bytes <= want.bytes+spread
	switch {
	case os.Getenv("MODEL_FIGURES") == "now":
		if !same || got.bytes < want.bytes-spread {
			measured[figureOf{row, client}] = got
		}
	case !same:
		if len(text) > 3000 {
			text = text[:1500] + "\n…\n" + text[len(text)-1500:]
		}
		t.Errorf("%s: a model reads %q, and is to read at most %q\n%s", row, got, want, text)
	}
}

// writeFigures writes the tables.
func writeFigures(t *testing.T) {
	for i, text := range eachFigure(t, func(row, client string, figure *string) {
		if c, ok := measured[figureOf{row, client}]; ok {
			*figure = c.String()
		}
	}) {
		if err := os.WriteFile(figurePages[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Every reading is in the figures, which are read and written without a change.
func TestFigures(t *testing.T) {
	all := figures(t)
	for _, c := range scriptedClients(t) {
		for _, r := range readings {
			if len(c.args) > 0 && all[figureOf{r.row, c.name}].bytes == 0 {
				t.Errorf("there is no figure of %q for %s", r.row, c.name)
			}
		}
	}
	for i, text := range eachFigure(t, func(_, _ string, figure *string) { *figure = parseCell(*figure).String() }) {
		page, err := os.ReadFile(figurePages[i])
		if err != nil {
			t.Fatal(err)
		}
		if string(page) != text {
			t.Errorf("%s would change:\n%s", figurePages[i], text)
		}
	}
}

package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

// An object is a row of the schema.
type object struct {
	kind, name, table, sql string
	root                   uint32
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// schema returns the schema, which is the table whose root is page 1.
func (s *Snapshot) schema() ([]object, error) {
	if s.objects != nil {
		return s.objects, nil
	}
	var objects []object
	t := &table{columns: []string{"type", "name", "tbl_name", "rootpage", "sql"}, alias: -1}
	err := s.walk(1, 1, &walk{visit: func(c *cell) error {
		row, err := s.row(c, t, []int{0, 1, 2, 3, 4})
		if err != nil {
			return err
		}
		root, _ := row[3].(int64)
		objects = append(objects, object{str(row[0]), str(row[1]), str(row[2]), str(row[4]), uint32(root)})
		return nil
	}})
	if err == nil {
		s.objects = objects
	}
	return objects, err
}

// A table is what its definition says.
type table struct {
	name     string
	root     uint32
	columns  []string
	bytewise []bool // whether an index has the texts of the column in bytewise order
	alias    int    // the column that is the row's id and stored as NULL, or -1
}

func (s *Snapshot) table(name string) (*table, error) {
	objects, err := s.schema()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.kind == "table" && strings.EqualFold(o.name, name) {
			t, err := parseTable(o.sql)
			if err != nil {
				return nil, fmt.Errorf("table %s is not supported: %w", name, err)
			}
			t.name, t.root = o.name, o.root
			return t, nil
		}
	}
	return nil, fmt.Errorf("the database has no table %s", name)
}

// indexOf returns the root of an index that begins with the given columns.
func (s *Snapshot) indexOf(t *table, columns []string) (uint32, error) {
	if first := indexFold(t.columns, columns[0]); first >= 0 && t.bytewise[first] {
		for _, o := range s.objects {
			if o.kind != "index" || !strings.EqualFold(o.table, t.name) {
				continue
			}
			names := parseIndex(o.sql)
			if len(names) >= len(columns) && slices.EqualFunc(names[:len(columns)], columns, strings.EqualFold) {
				return o.root, nil
			}
		}
	}
	return 0, fmt.Errorf("table %s has no index that begins with %s", t.name, strings.Join(columns, ", "))
}

func indexFold(list []string, name string) int {
	return slices.IndexFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// parseTable reads a CREATE TABLE.
func parseTable(sql string) (*table, error) {
	parts := parse(sql)
	last := len(parts) - 1
	switch {
	case last < 2 || len(parts[0]) != 3 || parts[0][1] != "table":
		return nil, errors.New("not an ordinary table")
	case slices.Contains(parts[last], "without"):
		return nil, errors.New("it is WITHOUT ROWID")
	}
	t := &table{alias: -1}
	integers := false
	for i, part := range parts[1:last] {
		if len(part) == 0 {
			return nil, errMalformed
		}
		primary := slices.Contains(part, "primary")
		if slices.Contains([]string{"constraint", "primary", "unique", "check", "foreign"}, part[0]) {
			if primary && integers {
				return nil, errors.New("it has a separate primary key")
			}
			continue
		}
		t.columns = append(t.columns, unquote(part[0]))
		part = append(part[1:], "", "")
		t.bytewise = append(t.bytewise, !slices.Contains(part, "collate"))
		integer := strings.EqualFold(unquote(part[0]), "integer")
		integers = integers || integer
		switch {
		case slices.Contains(part, "as"):
			return nil, errors.New("it has a generated column")
		case primary && integer && (part[0] != "integer" || part[1] != "primary" && part[1] != "not" || slices.Contains(part, "desc")):
			return nil, errors.New("it has an INTEGER PRIMARY KEY of an unusual form")
		case primary && integer:
			t.alias = i
		}
	}
	return t, nil
}

// parseIndex returns the columns of a CREATE INDEX, or nil if it has anything but columns
// in ascending order.
func parseIndex(sql string) (columns []string) {
	parts := parse(sql)
	last := len(parts) - 1
	if last < 2 || len(parts[last]) > 0 {
		return nil
	}
	for _, part := range parts[1:last] {
		if len(part) != 1 && (len(part) != 2 || part[1] != "asc") {
			return nil
		}
		columns = append(columns, unquote(part[0]))
	}
	return columns
}

// words matches the parts of SQL: comments, quoted texts, words and other characters.
var words = lazy.Regexp("(?s)--[^\n]*|/\\*.*?(?:\\*/|$)|\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\\[[^\\]]*\\]|[\\w$[:^ascii:]]+|\\S")

// parse splits a definition into the words before its parentheses, those of each item in them,
// and the words after them. What is in further parentheses is left out. Words are in lower
// case; a quoted one has a quote before it.
func parse(sql string) [][]string {
	if len(sql) > 1<<17 {
		return nil
	}
	parts, depth := [][]string{nil}, 0
	for _, text := range words().FindAllString(sql, -1) {
		switch last := text[len(text)-1:]; {
		case strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*"):
			continue
		case len(text) > 1 && strings.Contains("\"'`]", last):
			text = `"` + strings.ReplaceAll(text[1:len(text)-1], last+last, last)
		case text == ")":
			depth--
		}
		switch {
		case text == "(" && depth == 0, text == "," && depth == 1, text == ")" && depth == 0:
			parts = append(parts, nil)
		case depth <= 1 && text[0] == '"':
			parts[len(parts)-1] = append(parts[len(parts)-1], text)
		case depth <= 1:
			parts[len(parts)-1] = append(parts[len(parts)-1], strings.ToLower(text))
		}
		if text == "(" {
			depth++
		}
	}
	return parts
}

func unquote(word string) string { return strings.TrimPrefix(word, `"`) }

package reply

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/params"
)

// List is the answer of a tool that lists things: one page, and the total on all pages.
type List[T any] struct {
	Result []T `json:"result"`
	// Total is followed by left_out, a text, if rows do not fit: see [List.Encode].
	Total int `json:"total"`
	// Fields are the properties to show of each row; nil means all.
	Fields []params.Field `json:"-"`
	// Offset is the number of rows on earlier pages.
	Offset int `json:"-"`
}

func (List[T]) isList() {}

// IsList reports whether a type is a [List].
func IsList(t reflect.Type) bool {
	_, is := reflect.Zero(t).Interface().(interface{ isList() })
	return is
}

// Encode returns the JSON of the list in most bytes: as many of the first rows as fit, and
// which are left out.
func (l List[T]) Encode(most int) ([]byte, error) {
	var rows [][]byte
	size := 0
	for _, r := range l.Result {
		row, err := l.row(r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		size += len(row) + len(",")
	}
	tail := fmt.Appendf(nil, `],"total":%d`, l.Total)
	if size += len(`{"result":[`) + len(tail) + len("}"); size > most {
		shown := len(rows)
		for ; shown > 0 && size > most-mostLeftOut; shown-- {
			size -= len(rows[shown-1]) + len(",")
		}
		rows = rows[:shown]
		why, err := params.Marshal(fmt.Sprintf("rows %d to %d of %d, %s, do not fit in %d bytes; get them with offset, filters or fewer fields",
			l.Offset+shown+1, l.Offset+len(l.Result), l.Total, idsOf(l.Result[shown:]), most))
		if err != nil {
			return nil, err
		}
		tail = fmt.Appendf(tail, `,"left_out":%s`, why)
	}
	b := slices.Concat([]byte(`{"result":[`), bytes.Join(rows, []byte(",")), tail)
	return append(b, '}'), nil
}

func (l List[T]) row(row T) ([]byte, error) {
	if l.Fields == nil {
		return params.Marshal(row)
	}
	b := []byte("{")
	for j, p := range l.Fields {
		value, err := params.Marshal(reflect.ValueOf(row).FieldByIndex(p.Index).Interface())
		if err != nil {
			return nil, err
		}
		if j > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%s", p.Name, value)
	}
	return append(b, '}'), nil
}

// mostIDs bounds the ids of rows that are left out, in bytes.
const mostIDs = 150

// idsOf returns the ids of rows, the first text of each, as far as they fit in mostIDs bytes.
func idsOf[T any](rows []T) string {
	id := func(row reflect.Value) string {
		if row.Kind() == reflect.Struct {
			of := params.FieldsOf(row.Type())
			i := slices.IndexFunc(of, func(p params.Field) bool { return params.Elem(p.Type).Kind() == reflect.String })
			row = row.FieldByIndex(of[max(i, 0)].Index)
		}
		return inLine(row)
	}
	var ids string
	for i, r := range rows {
		if i > 0 {
			ids += ", "
		}
		if ids += id(reflect.ValueOf(r)); len(ids) > mostIDs {
			return Head(ids, mostIDs) + "…"
		}
	}
	return ids
}

// Text is the answer of a tool that says what it has done.
type Text struct {
	Result Words `json:"result"`
}

// PaneText is such an answer about a pane.
type PaneText struct {
	Result Words  `json:"result"`
	PaneID string `json:"pane_id"`
}

func (t Text) TextBlock() string     { return Legible(string(t.Result), "") }
func (t PaneText) TextBlock() string { return Legible(string(t.Result), "") }

// TextOf returns the text of all blocks of a result.
func TextOf(res *mcp.CallToolResult) string {
	var texts []string
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (t Text) View() View     { return TextView(Legible(string(t.Result), "")) }
func (t PaneText) View() View { return TextView(Legible(string(t.Result), "")) }

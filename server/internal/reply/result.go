package reply

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/params"
)

// List is the answer of a tool that lists things: one page, and the total on all pages.
type List[T any] struct {
	Result []T `json:"result"`
	Total  int `json:"total"`
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

// Encode returns the JSON of the list.
func (l List[T]) Encode() ([]byte, error) {
	if l.Fields == nil {
		return params.Marshal(l)
	}
	b := []byte(`{"result":[`)
	for i, row := range l.Result {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
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
		b = append(b, '}')
	}
	return fmt.Appendf(b, `],"total":%d}`, l.Total), nil
}

// Text is the answer of a tool that returns text.
type Text struct {
	Result string `json:"result"`
}

// PaneText is text read from, or sent to, a pane.
type PaneText struct {
	Result string `json:"result"`
	PaneID string `json:"pane_id"`
}

func (t Text) TextBlock() string     { return Legible(t.Result, "") }
func (t PaneText) TextBlock() string { return Legible(t.Result, "") }

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

func (t Text) View() View     { return TextView(Legible(t.Result, "")) }
func (t PaneText) View() View { return TextView(Legible(t.Result, "")) }

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/params"
)

// list is the answer of a tool that lists things: one page, and the total on all pages.
type list[T any] struct {
	Result []T `json:"result"`
	Total  int `json:"total"`
	// fields are the properties to show of each row; nil means all.
	fields []params.Field
	// offset is the number of rows on earlier pages.
	offset int
}

// encode returns the JSON of the list.
func (l list[T]) encode() ([]byte, error) {
	if l.fields == nil {
		return params.Marshal(l)
	}
	b := []byte(`{"result":[`)
	for i, row := range l.Result {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, p := range l.fields {
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

// paging are the parameters of a tool that lists things.
type paging struct {
	Limit  *int `json:"limit,omitempty" min:"1" desc:"most rows; default: all"`
	Offset int  `json:"offset,omitempty" min:"0" desc:"rows to skip"`
}

// page returns the requested page of the items.
func page[T any](items []T, p paging) list[T] {
	l := list[T]{Total: len(items), offset: min(p.Offset, len(items))}
	items = items[l.offset:]
	if p.Limit != nil && len(items) > *p.Limit {
		items = items[:*p.Limit]
	}
	l.Result = append([]T{}, items...)
	return l
}

// text is the answer of a tool that returns text.
type text struct {
	Result string `json:"result"`
}

// paneText is text read from, or sent to, a pane.
type paneText struct {
	Result string `json:"result"`
	PaneID string `json:"pane_id"`
}

// screenText is text of a pane's screen.
type screenText struct {
	Result string `json:"result" exact:"true"`
	PaneID string `json:"pane_id"`
	// FirstLine and LastLine are the numbers of the oldest line of the history and the last
	// of the screen, as in start and end. Outside is set if none of the requested lines is
	// between them.
	FirstLine int  `json:"first_line"`
	LastLine  int  `json:"last_line"`
	Outside   bool `json:"outside"`
}

func (t text) textBlock() string     { return legible(t.Result, "") }
func (t paneText) textBlock() string { return legible(t.Result, "") }

func (t screenText) textBlock() string {
	if t.Outside {
		return t.where()
	}
	return t.Result
}

// where describes which lines exist.
func (t screenText) where() string {
	return fmt.Sprintf("nothing there: its lines are %d to %d", t.FirstLine, t.LastLine)
}

// encodeResult makes the answer of a call: text, see [view]; or, for programs, the output
// as structured content, plus one text block for clients that read only text: the text
// itself, or the same JSON. What there is to say besides is
// another fact, or in _meta.
func (c *call) encodeResult(ctx context.Context, out any) (*mcp.CallToolResult, error) {
	besides := c.besides.text()
	if c.s.cfg.Results != ResultsJSON {
		v := viewOf(out)
		v.factIf(besides != "", "%s", besides)
		return mcp.NewToolResultText(v.text(c.s.budgetIn(ctx))), nil
	}
	encode := func() ([]byte, error) { return params.Marshal(out) }
	if e, ok := out.(interface{ encode() ([]byte, error) }); ok {
		encode = e.encode
	}
	structured, err := encode()
	if err == nil {
		structured, err = legibleJSON(structured, reflect.TypeOf(out))
	}
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	block := string(structured)
	if t, ok := out.(interface{ textBlock() string }); ok {
		block = t.textBlock()
	}
	res := &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(block)},
		StructuredContent: json.RawMessage(structured),
	}
	if besides != "" {
		res.Meta = mcp.NewMetaFromMap(map[string]any{"notice": legible(besides, "")})
	}
	return res, nil
}

// Text returns the text of all blocks of a result.
func Text(res *mcp.CallToolResult) string {
	var texts []string
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

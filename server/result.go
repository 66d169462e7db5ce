package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// list is the answer of a tool that lists things: a page of them, and how many
// there are on all pages.
type list[T any] struct {
	Result []T `json:"result"`
	Total  int `json:"total"`
	// told are the properties to tell of each, nil for all.
	told []field
}

// encode is the JSON of the list.
func (l list[T]) encode() ([]byte, error) {
	if l.told == nil {
		return marshal(l)
	}
	b := []byte(`{"result":[`)
	for i, row := range l.Result {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, p := range l.told {
			value, err := marshal(reflect.ValueOf(row).FieldByIndex(p.index).Interface())
			if err != nil {
				return nil, err
			}
			if j > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "%q:%s", p.name, value)
		}
		b = append(b, '}')
	}
	return fmt.Appendf(b, `],"total":%d}`, l.Total), nil
}

// paging are the parameters of a tool that lists things.
type paging struct {
	Limit  *int `json:"limit,omitempty" min:"1"`
	Offset int  `json:"offset,omitempty" min:"0"`
}

// page cuts the asked page out of all items.
func page[T any](items []T, p paging) list[T] {
	l := list[T]{Total: len(items)}
	items = items[min(p.Offset, len(items)):]
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

// paneText is text that a pane gave or got.
type paneText struct {
	Result string `json:"result"`
	PaneID string `json:"pane_id"`
}

func (t text) textBlock() string     { return t.Result }
func (t paneText) textBlock() string { return t.Result }

// encodeResult makes the answer of a call: the output as structured content,
// and beside it one text block for clients that read only text: the text
// itself, else the same JSON.
func encodeResult(out any) (*mcp.CallToolResult, error) {
	if r, ok := any(out).(*mcp.CallToolResult); ok {
		return r, nil
	}
	encode := func() ([]byte, error) { return marshal(out) }
	if e, ok := out.(interface{ encode() ([]byte, error) }); ok {
		encode = e.encode
	}
	structured, err := encode()
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	block := string(structured)
	if t, ok := out.(interface{ textBlock() string }); ok {
		block = t.textBlock()
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(block)},
		StructuredContent: json.RawMessage(structured),
	}, nil
}

// marshal is json.Marshal without the escapes for HTML, which only cost bytes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeMessage is the JSON of a message. That of an answer to a call it writes
// itself: mcp-go's own goes over all of it five times and escapes it for HTML.
func encodeMessage(msg any) ([]byte, error) {
	response, ok := msg.(mcp.JSONRPCResponse)
	if !ok {
		return marshal(msg)
	}
	res, ok := response.Result.(*mcp.CallToolResult)
	if !ok || res.Meta != nil || len(res.InputRequests) > 0 || res.RequestState != "" {
		return marshal(msg)
	}
	structured, ok := res.StructuredContent.(json.RawMessage)
	if !ok && res.StructuredContent != nil || len(res.RawStructuredContent) > 0 || bytes.IndexByte(structured, '\n') >= 0 {
		return marshal(msg)
	}
	content, err := marshal(append([]mcp.Content{}, res.Content...))
	if err != nil {
		return nil, err
	}
	id, err := marshal(response.ID)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(content)+len(structured)+len(id)+200)
	b = fmt.Appendf(b, `{"jsonrpc":%q,"id":%s,"result":{"content":%s`, response.JSONRPC, id, content)
	if res.IsError {
		b = append(b, `,"isError":true`...)
	}
	if res.ResultType != "" {
		b = fmt.Appendf(b, `,"resultType":%q`, res.ResultType)
	}
	if len(structured) > 0 {
		b = append(append(b, `,"structuredContent":`...), structured...)
	}
	return append(b, "}}"...), nil
}

// Text is the text of a result, all blocks of it.
func Text(res *mcp.CallToolResult) string {
	var texts []string
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

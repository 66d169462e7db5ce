package server

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/params"
)

// maxResult bounds any result, in bytes of its JSON.
const maxResult = 1_000_000

// limitResults bounds what is not bounded already, as text is by [view.text]. It keeps the
// tail of a result that is too large, since what a terminal printed last matters most. Text
// loses its beginning and a list its first items; structured content keeps its shape, and
// the text block says how much was removed.
func (s *Server) limitResults(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		if err != nil || res == nil {
			return res, err
		}
		size := resultSize(res)
		most := maxResult
		if s.cfg.Results == ResultsJSON {
			most = s.cfg.MaxResult
		}
		if size <= most {
			return res, nil
		}
		limited := *res
		var whole string
		for _, c := range res.Content {
			if t, ok := c.(mcp.TextContent); ok {
				whole += t.Text
			}
		}
		kept := tail(whole, most/2-100)
		if raw, ok := res.StructuredContent.(json.RawMessage); ok {
			shrunk := shrink(raw, most/2-100)
			limited.StructuredContent = shrunk
			if whole == string(raw) {
				kept = string(shrunk)
			}
		}
		limited.Content = []mcp.Content{mcp.NewTextContent(
			fmt.Sprintf("[... truncated %d bytes ...]\n%s", len(whole)-len(kept), kept))}
		return &limited, nil
	}
}

// resultSize estimates the size of a result's JSON without producing it.
func resultSize(res *mcp.CallToolResult) int {
	n := 0
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			n += len(t.Text)
		}
	}
	if raw, ok := res.StructuredContent.(json.RawMessage); ok {
		n += len(raw)
	}
	return n
}

// shrink truncates the largest text or list of an object from the front until the object's
// JSON has at most n bytes. Other properties stay unchanged, except one that says whether
// it was truncated.
func shrink(raw json.RawMessage, n int) json.RawMessage {
	var props map[string]json.RawMessage
	for len(raw) > n && json.Unmarshal(raw, &props) == nil {
		largest := ""
		for name, value := range props {
			if len(value) > len(props[largest]) {
				largest = name
			}
		}
		var s string
		var items []json.RawMessage
		var err error
		over := len(raw) - n
		switch value := props[largest]; {
		case json.Unmarshal(value, &s) == nil && s != "":
			props[largest], err = shorter(s, over, value)
		case json.Unmarshal(value, &items) == nil && len(items) > 0:
			for len(items) > 1 && over > 0 {
				over -= len(items[0]) + 1
				items = items[1:]
			}
			if json.Unmarshal(items[0], &s) == nil && s != "" && over > 0 {
				items[0], err = shorter(s, over, items[0])
			} else if over > 0 {
				items = items[1:]
			}
			if err != nil {
				return raw
			}
			props[largest], err = params.Marshal(items)
		default:
			return raw
		}
		if err != nil {
			return raw
		}
		if _, ok := props[largest+"_truncated"]; ok {
			props[largest+"_truncated"] = json.RawMessage("true")
		}
		if raw, err = params.Marshal(props); err != nil {
			return raw
		}
	}
	return raw
}

// shorter returns the JSON of text after removing about that many bytes of JSON from its
// front. value is its current JSON, which escapes make longer than the text.
func shorter(text string, bytes int, value json.RawMessage) (json.RawMessage, error) {
	keep := len(text) - max(1, int(float64(bytes)*float64(len(text))/float64(len(value))))
	return params.Marshal(tail(text, max(0, keep)))
}

// tail returns the last n bytes of s, without cutting a character in two.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

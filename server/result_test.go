package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server"
)

// What is written says what mcp-go would have written.
func TestMessagesAreThoseOfMCP(t *testing.T) {
	raw := json.RawMessage(`{"result":[{"pane_id":"%1","pane_title":"<a> & \"b\""}],"total":1}`)
	text := mcp.NewTextContent("<b> & \"quoted\"\n\u2028\x00é\xff")
	noted := text
	noted.Annotations = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}
	for name, res := range map[string]*mcp.CallToolResult{
		"text":        {Content: []mcp.Content{text}},
		"structured":  {Content: []mcp.Content{mcp.NewTextContent(string(raw))}, StructuredContent: raw},
		"lines":       {Content: []mcp.Content{text}, StructuredContent: json.RawMessage("{\n\"a\": 1}\n")},
		"error":       {Content: []mcp.Content{text}, IsError: true, StructuredContent: raw},
		"nothing":     {},
		"several":     {Content: []mcp.Content{text, noted, mcp.NewImageContent("AAAA", "image/png")}},
		"other value": {Content: []mcp.Content{text}, StructuredContent: map[string]any{"a": "<"}},
		"raw value":   {Content: []mcp.Content{text}, RawStructuredContent: raw},
		"meta":        {Content: []mcp.Content{text}, Result: mcp.Result{Meta: &mcp.Meta{AdditionalFields: map[string]any{"x": 1.0}}}},
		"type":        {Content: []mcp.Content{text}, Result: mcp.Result{ResultType: "complete"}, StructuredContent: raw},
	} {
		for _, id := range []any{int64(1), "a\"b<", 1.5, nil} {
			msg := mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Result: res}
			want, err := json.Marshal(msg)
			if err != nil {
				t.Fatal(err)
			}
			got, err := server.EncodeMessage(msg)
			if err != nil {
				t.Fatal(err)
			}
			var w, g any
			if err := json.Unmarshal(want, &w); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(got, &g); err != nil {
				t.Fatalf("%s: %v: %s", name, err, got)
			}
			if diff := cmp.Diff(w, g); diff != "" {
				t.Errorf("%s, id %v: %s", name, id, diff)
			}
			if strings.Contains(string(got), "\n") {
				t.Errorf("%s: more than a line: %s", name, got)
			}
			if name == "structured" && !strings.Contains(string(got), `"<a> & `) {
				t.Errorf("escaped for HTML: %s", got)
			}
		}
	}
}

package stdio

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

// TestResultsAreThoseOfMCP: what is written means the same as what mcp-go would have
// written. A field that a later mcp-go adds fails it, and then belongs in the table.
func TestResultsAreThoseOfMCP(t *testing.T) {
	raw := json.RawMessage(`{"result":[{"pane_id":"%1","pane_title":"<a> & \"b\""}],"total":1}`)
	text := mcp.NewTextContent("<b> & \"quoted\"\n\u2028\x00é\xff")
	noted := text
	noted.Annotations = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}
	results := map[string]mcp.CallToolResult{
		"nothing":     {},
		"text":        {Content: []mcp.Content{text}},
		"structured":  {Content: []mcp.Content{mcp.NewTextContent(string(raw))}, StructuredContent: raw},
		"lines":       {Content: []mcp.Content{text}, StructuredContent: json.RawMessage("{\n\"a\": 1}\n")},
		"error":       {Content: []mcp.Content{text}, IsError: true, StructuredContent: raw},
		"several":     {Content: []mcp.Content{text, noted, mcp.NewImageContent("AAAA", "image/png")}},
		"other value": {Content: []mcp.Content{text}, StructuredContent: map[string]any{"a": "<"}},
		"raw value":   {Content: []mcp.Content{text}, RawStructuredContent: raw},
		"meta":        {Content: []mcp.Content{text}, Result: mcp.Result{Meta: &mcp.Meta{AdditionalFields: map[string]any{"x": 1.0}}}},
		"type":        {Content: []mcp.Content{text}, Result: mcp.Result{ResultType: "complete"}, StructuredContent: raw},
		"requests":    {MultiRoundTripResult: mcp.MultiRoundTripResult{InputRequests: mcp.InputRequests{"a": {Method: mcp.MethodListRoots}}}},
		"state":       {MultiRoundTripResult: mcp.MultiRoundTripResult{RequestState: "state"}},
	}
	for name, res := range results {
		for id, raw := range map[any]json.RawMessage{int64(1): json.RawMessage("1"), "a\"b<": json.RawMessage(`"a\"b<"`), nil: nil} {
			msg := mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Result: &res}
			want, err := json.Marshal(msg)
			if err != nil {
				t.Fatal(err)
			}
			got, err := encodeResponse(raw, msg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(anyOf(t, want), anyOf(t, got)); diff != "" {
				t.Errorf("%s, id %v (-mcp-go +here): %s", name, id, diff)
			}
			if strings.Contains(string(got), "\n") {
				t.Errorf("%s: more than a line: %s", name, got)
			}
			if name == "structured" && !strings.Contains(string(got), `"<a> & `) {
				t.Errorf("escaped for HTML: %s", got)
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[mcp.CallToolResult]()) {
		tried := func(res mcp.CallToolResult) bool { return !reflect.ValueOf(res).FieldByIndex(f.Index).IsZero() }
		if !f.Anonymous && !slices.ContainsFunc(slices.Collect(maps.Values(results)), tried) {
			t.Errorf("mcp.CallToolResult has the field %s, which encodeCallResult has not been tried with", f.Name)
		}
	}
	// Of these, encodeResponse writes the last field itself, and the others are its own.
	for _, message := range []any{mcp.JSONRPCResponse{}, mcp.JSONRPCError{}} {
		var names []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(message)) {
			names = append(names, f.Name)
		}
		if !slices.Equal(names[:2], []string{"JSONRPC", "ID"}) || len(names) != 3 {
			t.Errorf("%T has the fields %q, and encodeResponse writes three", message, names)
		}
	}
}

func anyOf(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func BenchmarkEncodeCallResult(b *testing.B) {
	res := &mcp.CallToolResult{
		Content: []mcp.Content{mcp.NewTextContent("a line")}, StructuredContent: json.RawMessage(`{"result":"a line"}`),
	}
	for b.Loop() {
		if _, err := encodeCallResult(res); err != nil {
			b.Fatal(err)
		}
	}
}

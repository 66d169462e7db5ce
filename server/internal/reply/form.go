package reply

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/params"
)

// Results is the form of tool results.
type Results string

const (
	// ResultsText is text for models to read.
	ResultsText Results = "text"
	// ResultsJSON is structured content with schemas, for programs, and a text block.
	ResultsJSON Results = "json"
)

// DefaultMaxResult is the default of [Form.Most] for text.
const DefaultMaxResult = 30_000

// Form is how a server answers.
type Form struct {
	Results Results
	// Most bounds a result, in bytes.
	Most int
}

// Encode makes the answer of a call: text, see [View]; or, for programs, the output as
// structured content, plus one text block for clients that read only text: the text itself,
// or the same JSON. What there is to say besides is another fact, or in _meta.
func (f Form) Encode(ctx context.Context, out any, besides *Notices) (*mcp.CallToolResult, error) {
	if f.Results != ResultsJSON {
		v, text := ViewOf(out), besides.Text()
		v.FactIf(text != "", "%s", text)
		return mcp.NewToolResultText(v.Text(f.Room(ctx))), nil
	}
	encode := func(int) ([]byte, error) { return params.Marshal(out) }
	if e, ok := out.(interface {
		Encode(most int) ([]byte, error)
	}); ok {
		encode = e.Encode
	}
	structured, err := encode(f.half(ctx))
	if err == nil {
		structured, err = LegibleJSON(structured, reflect.TypeOf(out))
	}
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	block := string(structured)
	if t, ok := out.(interface{ TextBlock() string }); ok {
		block = t.TextBlock()
	}
	res := &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(block)},
		StructuredContent: json.RawMessage(structured),
	}
	if meta := besides.Meta(); meta != nil {
		res.Meta = mcp.NewMetaFromMap(meta)
	}
	return res, nil
}

// Error returns the answer of a call that failed.
func (f Form) Error(e *Fault, expected bool) *mcp.CallToolResult {
	res := mcp.NewToolResultError(e.Text())
	// Some clients show a model the whole error.
	if f.Results != ResultsJSON {
		return res
	}
	meta := map[string]any{"error_type": e.Kind, "expected": expected}
	if e.Suggestion != "" {
		meta["suggestion"] = Said(e.Suggestion)
	}
	res.Meta = mcp.NewMetaFromMap(meta)
	return res
}

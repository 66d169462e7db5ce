package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/params"
)

// encodeResponse returns the JSON of an answer to a request, with the bytes of its id
// unchanged; a nil id becomes null. It writes the result of a call itself: mcp-go's own
// encoder processes it five times and escapes it for HTML.
func encodeResponse(id json.RawMessage, response mcp.JSONRPCMessage) ([]byte, error) {
	var body []byte
	var err error
	name := "result"
	switch r := response.(type) {
	case mcp.JSONRPCResponse:
		if res, ok := r.Result.(*mcp.CallToolResult); ok {
			body, err = encodeCallResult(res)
		} else {
			body, err = params.Marshal(r.Result)
		}
	case mcp.JSONRPCError:
		name = "error"
		body, err = params.Marshal(r.Error)
	default:
		err = fmt.Errorf("there is no answer, but a %T", response)
	}
	if err != nil {
		return nil, err
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	b := make([]byte, 0, len(body)+len(id)+50)
	b = fmt.Appendf(b, `{"jsonrpc":"2.0","id":%s,%q:`, id, name)
	return append(append(b, body...), '}'), nil
}

// encodeCallResult writes the fields that tool results have. A result with anything else,
// such as a field of a later mcp-go, goes to mcp-go's own encoder.
func encodeCallResult(res *mcp.CallToolResult) ([]byte, error) {
	structured, ok := res.StructuredContent.(json.RawMessage)
	if !ok && res.StructuredContent != nil || bytes.IndexByte(structured, '\n') >= 0 {
		return params.Marshal(res)
	}
	rest := *res
	rest.Content, rest.StructuredContent, rest.IsError, rest.ResultType = nil, nil, false, ""
	if !reflect.ValueOf(&rest).Elem().IsZero() {
		return params.Marshal(res)
	}
	content, err := params.Marshal(append([]mcp.Content{}, res.Content...))
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(content)+len(structured)+100)
	b = append(append(b, `{"content":`...), content...)
	if res.IsError {
		b = append(b, `,"isError":true`...)
	}
	if res.ResultType != "" {
		b = fmt.Appendf(b, `,"resultType":%q`, res.ResultType)
	}
	if len(structured) > 0 {
		b = append(append(b, `,"structuredContent":`...), structured...)
	}
	return append(b, '}'), nil
}

package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/tidwall/gjson"

	"tmuxmcp/server/internal/params"
)

// mcp-go decodes messages loosely: names in any case, the last of duplicates, ids of any
// type and numbers as float64. So messages are checked here, and mcp-go gets what was
// checked, encoded anew. The bytes of an id stay here.

// message is one JSON-RPC message from the client: a request if it has an id and isCall is
// set, a notification if only isCall is, otherwise a response.
type message struct {
	id     json.RawMessage // as the client wrote it
	key    string          // the value of id: equal ids have equal keys
	isCall bool
	method string
	params json.RawMessage // an object or nil
	result json.RawMessage
	err    json.RawMessage
	era    era // of a checked request
}

// parseMessage checks a message, which must be valid JSON. With an error it also returns
// the id, if that can be used to report it.
func parseMessage(raw []byte) (m message, err error) {
	members := map[string]json.RawMessage{"jsonrpc": nil, "id": nil, "method": nil, "params": nil, "result": nil, "error": nil}
	object := gjson.ParseBytes(raw)
	if !object.IsObject() {
		return m, errors.New("a message must be an object")
	}
	var twice string
	object.ForEach(func(name, value gjson.Result) bool {
		switch old, known := members[name.Str]; {
		case known && old != nil:
			twice = name.Str
		case known:
			members[name.Str] = json.RawMessage(value.Raw)
		}
		return twice == ""
	})
	if twice != "" {
		return m, fmt.Errorf("%q appears twice", twice)
	}
	key, validID := idKey(members["id"])
	if validID {
		m.id, m.key = members["id"], key
	}
	m.params, m.result, m.err = members["params"], members["result"], members["error"]
	if params.IsNull(m.params) {
		m.params = nil
	}
	if members["method"] == nil && m.result != nil && params.IsNull(m.err) {
		m.err = nil
	}
	ambiguous := messageMembers.Check(raw)
	version, _ := jsonText(members["jsonrpc"])
	m.method, m.isCall = jsonText(members["method"])
	switch {
	case version != mcp.JSONRPC_VERSION:
		err = errors.New(`"jsonrpc" must be "2.0"`)
	case members["method"] == nil && (m.result != nil || m.err != nil):
		// A response, whose id is one of ours or null. The question that it answers fails.
		if ambiguous != nil {
			m.result, m.err = nil, fmt.Appendf(nil, `{"message":%q}`, ambiguous)
		}
	case !m.isCall:
		err = errors.New(`"method" must be a string`)
	case members["id"] != nil && !validID:
		err = errors.New(`"id" must be a string or an integer`)
	case m.params != nil && m.params[0] != '{':
		err = errors.New(`"params" must be an object`)
	case m.result != nil || m.err != nil:
		err = errors.New("a message must be a request or a response")
	default:
		err = ambiguous
	}
	return m, err
}

// messageMembers are the names that messages have, as package mcp decodes them. They must be
// exact, since it takes another case for them, as others that read a message may not.
var messageMembers = params.Members{
	"jsonrpc": nil, "id": nil, "method": nil, "error": nil, "result": params.MembersOf(mcp.ElicitationResult{}),
	"params": params.MembersOf(mcp.InitializeParams{}, mcp.SetLevelParams{}, mcp.CallToolParams{}, mcp.GetPromptParams{},
		mcp.ReadResourceParams{}, mcp.SubscribeParams{}, mcp.UnsubscribeParams{}, mcp.PaginatedParams{}, mcp.CompleteParams{},
		mcp.SubscriptionsListenParams{}, mcp.CancelledNotificationParams{}, mcp.ProgressNotificationParams{},
		struct {
			Meta   meta                             `json:"_meta"`
			Inputs map[string]mcp.ElicitationResult `json:"inputResponses"`
			Prompt mcp.PromptReference              `json:"ref"`
		}{}, struct {
			Resource mcp.ResourceReference `json:"ref"`
		}{}),
}

// idKey returns a key for an id's value: 1 differs from "1", and "\u0061" equals "a".
func idKey(raw json.RawMessage) (key string, ok bool) {
	if s, ok := jsonText(raw); ok {
		return `"` + s, true
	}
	key, zeros, fraction := strings.Cut(string(raw), ".")
	digits := strings.TrimPrefix(key, "-")
	whole := !fraction || zeros != "" && strings.Trim(zeros, "0") == ""
	return key, digits != "" && strings.Trim(digits, "0123456789") == "" && whole
}

// jsonText returns the text of a JSON string; ok is false for any other value.
func jsonText(raw json.RawMessage) (s string, ok bool) {
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
	return s, ok
}

// forward returns the message for mcp-go, which ids beyond float64 must not confuse.
func (m message) forward() (json.RawMessage, error) {
	id := m.id
	if len(id) > 15 && id[0] != '"' {
		id = fmt.Appendf(nil, "%q", id)
	}
	return params.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}{mcp.JSONRPC_VERSION, id, m.method, m.params})
}

// idValue returns the id for the log.
func (m message) idValue() any {
	if s, ok := jsonText(m.id); ok {
		return s
	}
	return json.Number(m.id)
}

// progressToken returns the token for progress reports on the request, as the client wrote
// it; nil if there is none.
func (m message) progressToken() json.RawMessage {
	return json.RawMessage(gjson.GetBytes(m.params, "_meta.progressToken").Raw)
}

// cancelled returns the key of the request that a notification cancels.
func (m message) cancelled() string {
	key, _ := idKey(json.RawMessage(gjson.GetBytes(m.params, "requestId").Raw))
	return key
}

// validJSON reports whether a line is JSON, which is always UTF-8.
func validJSON(line []byte) bool { return utf8.Valid(line) && json.Valid(line) }

// protocolError returns an error response; a nil id becomes null.
func protocolError(id json.RawMessage, code int, msg string) []byte {
	return encodeError(id, mcp.NewJSONRPCErrorDetails(code, msg, nil))
}

func encodeError(id json.RawMessage, details mcp.JSONRPCErrorDetails) []byte {
	line, err := encodeResponse(id, mcp.JSONRPCError{Error: details})
	if err != nil {
		panic(err) // it holds a number, texts and lists of them
	}
	return line
}

// maxSaid bounds what an error says and has besides, in bytes: both may repeat what the client
// sent.
const maxSaid = 1000

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
		r.Error.Message = params.Short(r.Error.Message, maxSaid)
		if data, _ := params.Marshal(r.Error.Data); len(data) > maxSaid {
			r.Error.Data = nil
		}
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

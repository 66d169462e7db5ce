package ask

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// The client in mcp-go links its server, which compiles schemas whenever a program starts, even to
// complete a word in a shell. This one knows the two requests that the package makes.

// message is a request, a notification or an answer.
type message struct {
	Version string                   `json:"jsonrpc"`
	ID      json.RawMessage          `json:"id,omitempty"`
	Method  string                   `json:"method,omitempty"`
	Params  any                      `json:"params,omitempty"`
	Result  json.RawMessage          `json:"result,omitempty"`
	Error   *mcp.JSONRPCErrorDetails `json:"error,omitempty"`
}

func (m message) text() []byte {
	m.Version = mcp.JSONRPC_VERSION
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // all fields are strings or come from JSON
	}
	return text
}

// A sender sends a message, and returns a reader of the answer: lines of JSON, or events with JSON
// as their data.
type sender func(message) (*bufio.Reader, error)

// call sends a request and decodes its result. Meanwhile it refuses requests of the server, and
// ignores errors in doing so.
func (send sender) call(id, method string, params, result any) error {
	in, err := send(message{ID: json.RawMessage(id), Method: method, Params: params})
	for event := []byte(nil); err == nil; {
		var line []byte
		if line, err = in.ReadBytes('\n'); err != nil && len(line) == 0 {
			break
		}
		text, isData := bytes.CutPrefix(line, []byte("data:"))
		if isData {
			event = append(event, text...)
			text = event
		} else {
			event = nil
		}
		var m message
		switch wrong := json.Unmarshal(text, &m); {
		case wrong != nil: // part of an event, or not JSON-RPC
		case m.Method == string(mcp.MethodPing) && m.ID != nil:
			_, _ = send(message{ID: m.ID, Result: json.RawMessage("{}")})
		case m.Method != "" && m.ID != nil:
			_, _ = send(message{ID: m.ID, Error: &mcp.JSONRPCErrorDetails{Code: mcp.METHOD_NOT_FOUND, Message: "not supported"}})
		case m.Method != "" || strings.TrimSuffix(strings.Trim(string(m.ID), `"`), ".0") != id: // some write 1 as "1" or 1.0
		case m.Error != nil:
			return m.Error.AsError()
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
	return err
}

// converse completes an MCP initialize, and lists the names of the server's tools if requested. It
// adds the server's revision to header. what is the request that failed.
func converse(send sender, header http.Header, tools bool) (hello Hello, what string, err error) {
	// The newest revision that has initialize.
	params := mcp.InitializeParams{ProtocolVersion: mcp.LATEST_LEGACY_PROTOCOL_VERSION, ClientInfo: mcp.Implementation{Name: "mcp-swap", Version: "1"}}
	var answer mcp.InitializeResult
	if err = send.call("1", "initialize", params, &answer); err == nil && !mcp.IsValidProtocolVersion(answer.ProtocolVersion) {
		err = mcp.UnsupportedProtocolVersionError{Version: answer.ProtocolVersion}
	}
	if err == nil {
		header.Set(mcp.HeaderProtocolVersion, answer.ProtocolVersion)
		_, err = send(message{Method: string(mcp.MethodNotificationInitialized)})
	}
	if err != nil {
		return Hello{}, "initialize", err
	}
	hello = Hello{Name: answer.ServerInfo.Name, Version: answer.ServerInfo.Version}
	if !tools {
		return hello, "", nil
	}
	hello.Tools = []string{}
	if answer.Capabilities.Tools == nil {
		return hello, "", nil
	}
	for cursors := []mcp.Cursor{""}; ; {
		var page struct {
			Tools      []struct{ Name string }
			NextCursor mcp.Cursor
		}
		last := cursors[len(cursors)-1]
		err = send.call(fmt.Sprint(1+len(cursors)), "tools/list", mcp.PaginatedParams{Cursor: last}, &page)
		if err == nil && page.NextCursor != "" && slices.Contains(cursors, page.NextCursor) {
			err = errors.New("it repeats a page")
		}
		if err != nil {
			return Hello{}, "tools/list", fmt.Errorf("list its tools: %w", err)
		}
		for _, t := range page.Tools {
			hello.Tools = append(hello.Tools, t.Name)
		}
		if page.NextCursor == "" {
			return hello, "", nil
		}
		cursors = append(cursors, page.NextCursor)
	}
}

// overLines returns a sender of messages as lines.
func overLines(in io.Writer, out io.Reader) sender {
	answers := bufio.NewReader(out)
	return func(m message) (*bufio.Reader, error) {
		_, err := in.Write(append(m.text(), '\n'))
		return answers, err
	}
}

// overHTTP returns a sender that posts messages with header, to which it adds the session. The
// empty message ends the session. Answers can be read until ctx is done.
func overHTTP(ctx context.Context, web *http.Client, url string, header http.Header) sender {
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	return func(m message) (*bufio.Reader, error) {
		method, text := http.MethodPost, m.text()
		if m.Method == "" && m.ID == nil {
			method, text = http.MethodDelete, nil
		}
		r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		r.Header = header.Clone()
		answer, err := web.Do(r)
		if err != nil {
			return nil, err
		}
		if id := answer.Header.Get(mcp.HeaderSessionID); id != "" {
			header.Set(mcp.HeaderSessionID, id)
		}
		return answerIn(answer, m)
	}
}

// answerIn returns a reader of the answer to a message in an HTTP response, or nil if the message
// asks for none.
func answerIn(r *http.Response, m message) (*bufio.Reader, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	good := r.StatusCode == http.StatusOK || r.StatusCode == http.StatusAccepted || r.StatusCode == http.StatusNoContent
	asks := m.Method != "" && m.ID != nil
	if good && asks && kind == "text/event-stream" {
		return bufio.NewReader(r.Body), nil
	}
	defer r.Body.Close()
	if good && !asks {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if good && kind != "application/json" {
		return nil, fmt.Errorf("unexpected content type: %s", r.Header.Get("Content-Type"))
	}
	if good {
		var compact bytes.Buffer
		_ = json.Compact(&compact, body) // the caller finds no result in what is not JSON
		return bufio.NewReader(&compact), nil
	}
	var refusal message
	switch {
	case m.Method == "initialize" && r.StatusCode/100 == 4:
		return nil, ErrNotThere
	case json.Unmarshal(body, &refusal) == nil && refusal.Error != nil:
		return nil, refusal.Error.AsError()
	}
	return nil, fmt.Errorf("request failed with status %d: %s", r.StatusCode, body)
}

package ask

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Where the answer to a message is in a response, or why there is none.
func TestAnswerIn(t *testing.T) {
	t.Parallel()
	const refusal = `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"who?"}}`
	for _, test := range []struct {
		method string // "" is the end of the session, "!" a notification
		status int
		kind   string
		body   string
		want   string
	}{
		{"tools/list", 200, "application/json; charset=utf-8", "{\n\"id\": 1 }\n", `{"id":1}`},
		{"tools/list", 202, "application/json", "{}", "{}"},
		{"tools/list", 204, "application/json", "", ""},
		{"tools/list", 200, "application/json", "{", ""},
		{"tools/list", 200, "text/event-stream", "data: {}\n\n", "data: {}\n\n"},
		{"tools/list", 200, "text/html", "<html>", "error: unexpected content type: text/html"},
		{"tools/list", 200, "", "{}", "error: unexpected content type: "},
		{"tools/list", 201, "application/json", "{}", "error: request failed with status 201: {}"},
		{"tools/list", 404, "application/json", refusal, "error: who?"},
		{"tools/list", 500, "text/event-stream", "data: {}", "error: request failed with status 500: data: {}"},
		{"initialize", 404, "application/json", refusal, "error: it speaks no streamable HTTP there"},
		{"initialize", 500, "text/plain", refusal, "error: who?"},
		{"!", 202, "", "", "none"},
		{"!", 200, "text/event-stream", "data: {}", "none"},
		{"!", 400, "text/plain", "no", "error: request failed with status 400: no"},
		{"", 200, "text/html", "bye", "none"},
		{"", 405, "", "", "error: request failed with status 405: "},
	} {
		m := message{ID: []byte("1"), Method: test.method}
		if test.method == "!" || test.method == "" {
			m.ID = nil
		}
		r := &http.Response{StatusCode: test.status, Header: http.Header{"Content-Type": {test.kind}}, Body: io.NopCloser(strings.NewReader(test.body))}
		in, err := answerIn(r, m)
		got := "none"
		switch {
		case err != nil:
			got = fmt.Sprintf("error: %v", err)
		case in != nil:
			text, err := io.ReadAll(in)
			if got = string(text); err != nil {
				t.Error(err)
			}
		}
		if got != test.want {
			t.Errorf("%q answered by %d %s %q: %q, want %q", test.method, test.status, test.kind, test.body, got, test.want)
		}
	}
}

package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"tmuxmcp/conform/internal/gap"
)

// given answers with results and errors by target, or else by "".
type given map[string]string

func (g given) Ask(_ context.Context, r Request) (json.RawMessage, error) {
	target, _ := r.Params["target"].(string)
	answer, ok := g[target]
	if !ok {
		answer = g[""]
	}
	if text, is := strings.CutPrefix(answer, "!"); is {
		var e Error
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, err
		}
		return nil, &e
	}
	return json.RawMessage(answer), nil
}

// compact returns JSON without blanks.
func compact(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

// What scripts see of each form of an answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line, answer, want string
		code               int
		stderr             string
	}{
		{"display x", `{"value":"a"}`, `{"value":"a"}`, 0, ""},
		{"display x", `{"value":"a\n"}`, `{"value":"a"}`, 0, ""},
		{"display x", `{"value":"a\n\n"}`, `{"value":"a\n"}`, 0, ""},
		{"display x", `{"value":""}`, `{"value":""}`, 0, ""},
		{"display x", `{"lines":["a","b"]}`, `{"value":"a\nb"}`, 0, ""},
		{"display x", `{"lines":["a",""]}`, `{"value":"a"}`, 0, ""},
		{"display x", `{"lines":[]}`, `{"value":""}`, 0, ""},
		{"display x", `{"base64":"YQo="}`, `{"value":"a"}`, 0, ""},
		{"display x", `{"base64":"/w=="}`, `{"value":"\ufffd"}`, 0, ""},
		{"display x", `{"value":"a","unknown":1}`, `{"value":"a"}`, 0, ""},
		{"display x", `{"value":"a","warnings":["w","v"]}`, `{"value":"a","warnings":["w","v"]}`, 0, "w\nv\n"},
		{"capture %0", `{"lines":["a"]}`, `{"value":"a"}`, 0, ""},
		{"run-shell x", `{"value":"a\n","exit_code":3}`, `{"exit_code":3,"output":"a","value":"a"}`, 0, ""},
		{"run-shell x", `{"lines":["a"]}`, `{"output":"a","value":"a"}`, 0, ""},
		{"command %0 x", `{"value":"","exit_code":0,"stderr":""}`, `{"exit_code":0,"stderr":"","value":""}`, 0, ""},
		{"command %0 x", `{"lines":[],"exit_code":1,"stderr":"no x\n","warnings":["w"]}`,
			`{"exit_code":1,"stderr":"no x\n","value":"","warnings":["w"]}`, 1, "no x\nw\n"},
		{"reset %0", `{}`, `{"done":true}`, 0, ""},
		{"reset %0", `{"warnings":["w"]}`, `{"done":true,"warnings":["w"]}`, 0, "w\n"},
		{"last-window $0", `{}`, `{"done":true}`, 0, ""},
		{"last-window $0", `{"row":{"window_id":"@1"}}`, `{"window_id":"@1"}`, 0, ""},
		{"show @0", `{"row":{"window_zoomed_flag":"1","window_name":"","x":[]}}`, `{"window_name":null,"window_zoomed_flag":true,"x":[]}`, 0, ""},
		{"show @0", `{"row":{},"warnings":["w"]}`, `{}`, 0, "w\n"},
		{"list panes", `{"rows":[{"pane_width":"80"},{}]}`, `[{"pane_width":80},{}]`, 0, ""},
		{"list panes", `{"rows":[]}`, `[]`, 0, ""},
		{"search x", `{"rows":[{"pane_id":"%0"},{"pane_id":"%3"}]}`, `["%0","%3"]`, 0, ""},
		{"search x", `{"rows":[]}`, `[]`, 0, ""},
		{"type @0 window_zoomed_flag", `{"row":{"window_zoomed_flag":true}}`, `{"type":"bool"}`, 0, ""},
		{"type @0 window_zoomed_flag", `{"row":{"window_zoomed_flag":"1"}}`, `{"type":"text"}`, 0, ""},
		{"type @0 window_zoomed_flag", `{"row":{"window_zoomed_flag":1}}`, `{"type":"number"}`, 0, ""},
		{"type @0 window_zoomed_flag", `{"row":{"window_zoomed_flag":[]}}`, `{"type":"list"}`, 0, ""},
		{"type @0 window_zoomed_flag", `{"row":{"window_zoomed_flag":null}}`, `{"type":"none"}`, 0, ""},
		{"type @0 window_zoomed_flag", `{"row":{}}`, `{}`, 0, ""},
		{"display x", `!{"code":1,"message":"no x"}`, `{"error":{"message":"no x"}}`, 1, "no x\n"},
		{"display x", `!{"code":7,"message":"no x","data":null}`, `{"error":{"message":"no x"}}`, 1, "no x\n"},
		{"display x", `!{"code":1,"message":"no x","data":{"type":"E","kind":"k","command":"c","stderr":"s","exit_code":2,"more":1}}`,
			`{"error":{"command":"c","exit_code":2,"kind":"k","message":"no x","stderr":"s","type":"E"}}`, 1, "no x\n"},
		{"display x", `!{"code":1,"message":"no x","data":{"type":null,"kind":""}}`, `{"error":{"kind":"","message":"no x"}}`, 1, "no x\n"},
	} {
		c, err := Parse(words(test.line))
		if err != nil {
			t.Fatal(err)
		}
		said, err := c.Do(t.Context(), given{"": test.answer}, nil)
		if got := compact(t, said.JSON); err != nil || got != test.want || said.Code != test.code || said.Stderr != test.stderr {
			t.Errorf("%s %s:\n%s, exit status %d, %q, %v\nwant\n%s, exit status %d, %q", test.line, test.answer, got, said.Code, said.Stderr, err, test.want, test.code, test.stderr)
		}
	}
}

// Answers that are no answers of their verb.
func TestNoAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, answer, want string }{
		{"display x", `{}`, "schema: display answers without a text"},
		{"display x", `{"row":{}}`, "schema: display answers with a row"},
		{"display x", `{"value":"a","lines":[]}`, "schema: more than one of value, lines and base64"},
		{"list panes", `{"row":{}}`, "schema: list answers with a row"},
		{"list panes", `{}`, "schema: list answers without rows"},
		{"show %0", `{}`, "schema: get answers without a row"},
		{"reset %0", `{"value":""}`, "schema: reset answers with a text"},
		{"display x", `{"base64":"?"}`, "schema: illegal base64"},
		{"display x", `{"value":"","exit_code":1.5}`, "schema: json: "},
		{"display x", `!{"code":-32601,"message":"no such method"}`, "offered: no such method"},
		{"display x", `!{"code":-32602,"message":"no such parameter"}`, "offered: no such parameter"},
		{"display x", `!{"code":-32603,"message":"KeyError"}`, "at fault: the adapter failed: KeyError"},
		{"display x", `!{"code":0,"message":"x"}`, "at fault: the adapter failed: x"},
		{"fields pane_id", `!{"code":-32601,"message":"no get"}`, "offered: no get"},
	} {
		c, err := Parse(words(test.line))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Do(t.Context(), given{"": test.answer}, nil)
		var f *Failure
		var none gap.NotOffered
		text := ""
		switch {
		case errors.As(err, &none):
			text = "offered: " + err.Error()
		case errors.As(err, &f) && f.Kind == Misfit:
			text = err.Error()
		case errors.As(err, &f) && f.Kind == AtFault:
			text = "at fault: " + err.Error()
		}
		if !strings.HasPrefix(text, test.want) {
			t.Errorf("%s %s: %s %v, want %s", test.line, test.answer, text, err, test.want)
		}
	}
}

// A field is missing if no kind of object has it.
func TestFields(t *testing.T) {
	t.Parallel()
	targets := []string{"server", "%0", "$0", "/dev/pts/1"}
	for _, test := range []struct {
		names string
		given given
		want  string
	}{
		{"a b c d", given{"server": `{"row":{"a":1}}`, "%0": `{"row":{"b":null}}`, "$0": `{"row":{}}`, "/dev/pts/1": `{"row":{"c":""}}`}, `{"missing":["d"]}`},
		{"a", given{"server": `{"row":{"a":1}}`, "": `{"row":{}}`}, `{"missing":[]}`},
		{"a b", given{"server": `!{"code":-32601,"message":"no server"}`, "": `{"row":{"a":1}}`}, `{"missing":["b"]}`},
		{"client_tty pane_id", given{"/dev/pts/1": `!{"code":-32601,"message":"no Client"}`, "": `{"row":{"pane_id":"%0"}}`}, "no Client"},
		{"pane_id", given{"/dev/pts/1": `!{"code":-32601,"message":"no Client"}`, "": `{"row":{"pane_id":"%0"}}`}, `{"missing":[]}`},
		{"client_tty window_id", given{"/dev/pts/1": `!{"code":-32601,"message":"no Client"}`, "": `{"row":{"pane_id":"%0"}}`}, `{"missing":["client_tty","window_id"]}`},
		{"window_id", given{"/dev/pts/1": `!{"code":-32601,"message":"no Client"}`, "": `{"row":{"pane_id":"%0"}}`}, `{"missing":["window_id"]}`},
		{"a b", given{"%0": `!{"code":1,"message":"gone"}`, "": `{"row":{"a":1}}`}, `{"error":{"message":"gone"}}`},
	} {
		c, err := Parse(words("fields " + test.names))
		if err != nil {
			t.Fatal(err)
		}
		said, err := c.Do(t.Context(), test.given, targets)
		if none := new(gap.NotOffered); errors.As(err, none) {
			if none.Error() != test.want {
				t.Errorf("%s: not offered: %v, want %s", test.names, none, test.want)
			}
			continue
		}
		if got := compact(t, said.JSON); err != nil || got != test.want {
			t.Errorf("%s: %s, %v, want %s", test.names, got, err, test.want)
		}
	}
}

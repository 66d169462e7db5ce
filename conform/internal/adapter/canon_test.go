package adapter

import (
	"encoding/json"
	"reflect"
	"testing"

	"tmuxmcp/tmux"
)

// The values of fields that are the same for scripts.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ field, value, want string }{
		// Flags.
		{"window_zoomed_flag", `true`, `true`},
		{"window_zoomed_flag", `1`, `true`},
		{"window_zoomed_flag", `"1"`, `true`},
		{"window_zoomed_flag", `false`, `false`},
		{"window_zoomed_flag", `0`, `false`},
		{"window_zoomed_flag", `"0"`, `false`},
		{"window_zoomed_flag", `null`, `null`},
		{"window_zoomed_flag", `""`, `null`},
		{"window_zoomed_flag", `"on"`, `"on"`},
		{"window_zoomed_flag", `"true"`, `"true"`},
		{"window_zoomed_flag", `2`, `2`},
		{"window_zoomed_flag", `1.0`, `1.0`},
		{"window_zoomed_flag", `["1"]`, `["1"]`},
		// Numbers, int and int64.
		{"pane_width", `80`, `80`},
		{"pane_width", `"80"`, `80`},
		{"pane_width", `"-1"`, `-1`},
		{"pane_width", `0`, `0`},
		{"pane_width", `""`, `null`},
		{"pane_width", `null`, `null`},
		{"pane_width", `"080"`, `"080"`},
		{"pane_width", `" 80"`, `" 80"`},
		{"pane_width", `80.5`, `80.5`},
		{"pane_width", `true`, `true`},
		{"history_bytes", `"12345678901"`, `12345678901`},
		{"history_bytes", `99999999999999999999`, `99999999999999999999`},
		{"history_bytes", `"99999999999999999999"`, `"99999999999999999999"`},
		// Times.
		{"session_created", `1767225600`, `1767225600`},
		{"session_created", `1767225600.75`, `1767225600`},
		{"session_created", `"1767225600"`, `1767225600`},
		{"session_created", `"2026-01-01T00:00:00Z"`, `1767225600`},
		{"session_created", `"2026-01-01T01:00:00.5+01:00"`, `1767225600`},
		{"session_created", `0`, `0`},
		{"session_created", `""`, `null`},
		{"session_created", `null`, `null`},
		{"session_created", `"yesterday"`, `"yesterday"`},
		{"session_created", `"1767225600.75"`, `"1767225600.75"`},
		{"session_created", `1e300`, `1e300`},
		// Lists of texts and of numbers.
		{"client_flags", `["attached","UTF-8"]`, `["attached","UTF-8"]`},
		{"client_flags", `"attached,UTF-8"`, `["attached","UTF-8"]`},
		{"client_flags", `"attached"`, `["attached"]`},
		{"client_flags", `[]`, `null`},
		{"client_flags", `""`, `null`},
		{"client_flags", `null`, `null`},
		{"client_flags", `[["x"]]`, `[["x"]]`},
		{"client_flags", `7`, `7`},
		{"pane_tabs", `[8,16]`, `["8","16"]`},
		{"pane_tabs", `"8,16"`, `["8","16"]`},
		// Texts and ids.
		{"window_name", `"a,b"`, `"a,b"`},
		{"window_name", `"1"`, `"1"`},
		{"window_name", `""`, `null`},
		{"window_name", `null`, `null`},
		{"window_name", `" "`, `" "`},
		{"window_name", `1`, `1`},
		{"window_name", `[]`, `[]`},
		{"pane_id", `"%0"`, `"%0"`},
		// Names that no tmux has.
		{"pane_foo", `"1"`, `"1"`},
		{"pane_foo", `""`, `""`},
		{"pane_foo", `[]`, `[]`},
		{"pane_foo", `null`, `null`},
	} {
		var value any
		if err := decode([]byte(test.value), &value); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(canonical(test.field, value)); string(got) != test.want {
			t.Errorf("%s %s: %s, want %s", test.field, test.value, got, test.want)
		}
	}
}

// A test above has a token of each type.
func TestTokenTypes(t *testing.T) {
	t.Parallel()
	for _, token := range tmux.Tokens() {
		switch token.Type {
		case "bool", "int", "int64", "time.Time", "[]string", "[]int", "[]int64", "string", "PaneID", "WindowID", "SessionID":
		default:
			t.Errorf("%s is of a type that has no canonical form: %s", token.Name, token.Type)
		}
	}
}

// A canonical value is its own canonical value, whatever it was made of.
func FuzzCanonical(f *testing.F) {
	for _, field := range []string{"window_zoomed_flag", "pane_width", "session_created", "client_flags", "window_name", "pane_foo"} {
		for _, value := range []string{`1`, `"1"`, `true`, `null`, `""`, `[]`, `["a",1]`, `"2026-01-01T00:00:00Z"`, `-0`, `1e400`, `{"a":[]}`, `"\ud800"`} {
			f.Add(field, value)
		}
	}
	f.Fuzz(func(t *testing.T, field, text string) {
		var value any
		if decode([]byte(text), &value) != nil {
			return
		}
		once, err := json.Marshal(canonical(field, value))
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := decode(once, &again); err != nil {
			t.Fatal(err)
		}
		if twice, err := json.Marshal(canonical(field, again)); err != nil || !reflect.DeepEqual(once, twice) {
			t.Errorf("%s %s: %s, and of that %s, %v", field, text, once, twice, err)
		}
	})
}

// Which values a check calls those of another type.
func TestIsCanonical(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		field, value string
		want         bool
	}{
		{"window_zoomed_flag", `"1"`, true}, {"window_zoomed_flag", `true`, true}, {"window_zoomed_flag", `null`, true}, {"window_zoomed_flag", `""`, true},
		{"window_zoomed_flag", `"on"`, false}, {"window_zoomed_flag", `2`, false},
		{"pane_width", `"80"`, true}, {"pane_width", `80`, true}, {"pane_width", `"080"`, false}, {"pane_width", `80.5`, false}, {"pane_width", `true`, false},
		{"history_bytes", `12345678901`, true}, {"session_created", `"2026-01-01T00:00:00Z"`, true}, {"session_created", `"yesterday"`, false},
		{"client_flags", `["attached"]`, true}, {"client_flags", `"attached,UTF-8"`, true}, {"client_flags", `[["x"]]`, false}, {"pane_tabs", `[8,16]`, true},
		{"pane_id", `"%0"`, true}, {"pane_id", `0`, false}, {"pane_title", `["x"]`, false}, {"pane_title", `"5"`, true},
		{"nonesuch", `2`, true}, {"nonesuch", `["x"]`, true},
	} {
		var value any
		if err := decode([]byte(test.value), &value); err != nil {
			t.Fatal(err)
		}
		if got := isCanonical(test.field, value); got != test.want {
			t.Errorf("%s %s: %t, want %t", test.field, test.value, got, test.want)
		}
	}
}

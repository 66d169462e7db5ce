package server_test

import (
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
)

// TestValuesStayText: text that looks like a number, a flag, a format or shell stays text,
// wherever it is stored.
func TestValuesStayText(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	odd := []string{"007", "on", "1e3", "x;", "a  b", "#{x}#(y)%H", "'\"\\$", "é\n\t", "two\nlines", "\n", "a\nb\n", "\n\n"}
	texts := append(odd, literalTexts...)
	for _, text := range append(texts, "\x00\x01\x1b[31m\r\t", strings.Repeat("0123456789abcdef", 4000)) {
		buffer := ok[bufferAnswer](p, "load_buffer", args(t, "content", text)).Name
		if got := ok[bufferAnswer](p, "show_buffer", args(t, "buffer_name", buffer, "max_lines", nil)); got.Content != text || got.Truncated {
			t.Errorf("a buffer of %.80q is %.80q", text, got.Content)
		}
		ok[map[string]any](p, "delete_buffer", args(t, "buffer_name", buffer))
		if len(text) > 1000 || strings.ContainsRune(text, 0) {
			continue // no value of an option or variable
		}
		set := ok[map[string]any](p, "set_option", args(t, "option", "@note", "value", text, "scope", "window", "target", "@0"))
		shown := ok[map[string]any](p, "show_option", args(t, "option", "@note", "scope", "window", "target", "@0"))
		if set["value"] != text || shown["value"] != text {
			t.Errorf("an option is set to %q, is said to be %q and is %q", text, set["value"], shown["value"])
		}
		set = ok[map[string]any](p, "set_environment", args(t, "name", "ONE", "value", text))
		variables := ok[map[string]any](p, "show_environment", `{}`)["variables"].(map[string]any)
		if set["value"] != text || variables["ONE"] != text {
			t.Errorf("a variable is set to %q, is said to be %q and is %q", text, set["value"], variables["ONE"])
		}
	}
	if left := testserver.Run(t, srv, "list-buffers"); left != "" {
		t.Errorf("buffers are left: %s", left)
	}
}

// TestNoHookIsSetThroughOptions: for tmux hooks are options.
func TestNoHookIsSetThroughOptions(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	before := wholeState(t, srv)
	names := strings.Fields(testserver.Run(t, srv, "show-hooks", "-g") + "\n" + testserver.Run(t, srv, "show-hooks", "-gw"))
	if len(names) < 40 {
		t.Fatalf("these are not tmux's hooks: %v", names)
	}
	for _, name := range names {
		for _, spelling := range []string{name, name + "[0]", name[:len(name)-1]} {
			for _, where := range []string{``, `,"global_":true`, `,"scope":"session","target":"a"`, `,"scope":"pane","target":"%0"`, `,"scope":"window","global_":true`} {
				p.fails("set_option", `{"option":"`+spelling+`","value":"run-shell true"`+where+`}`)
			}
		}
	}
	if diff := difference(before, wholeState(t, srv)); diff != "" {
		t.Errorf("something has changed:\n%s", diff)
	}
}

package server_test

import (
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
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
		variables := ok[map[string]any](p, "show_environment", `{"name":"ONE"}`)["variables"].(map[string]any)
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

// TestEnvironmentValues: values of variables are shown only where they are asked for, in tier
// readonly only by name, and there no secret.
func TestEnvironmentValues(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "s", "exec cat")
	for name, value := range map[string]string{"PLAIN": "visible", "API_TOKEN": "sekrit", "DATABASE_URL": "db://user:sekrit@host/x"} {
		testserver.Run(t, srv, "set-environment", "-g", name, value)
		testserver.Run(t, srv, "set-environment", "-t", "s", name, value)
	}
	for _, tier := range []server.Tier{server.Readonly, server.Mutating, server.Destructive} {
		for _, form := range []server.Results{server.ResultsText, server.ResultsJSON} {
			cfg := configFor(srv)
			cfg.Tier, cfg.Results = tier, form
			p := serve(t, cfg)
			p.reads = form == server.ResultsText
			readonly := tier == server.Readonly
			for _, session := range []string{`"session_name":"s"`, `"session_name":""`} {
				// In a batch of reading tools, too, whatever the server's tier is.
				inBatch := func(args string) string {
					return p.tool("call_readonly_tools_batch", `{"operations":[{"tool":"show_environment","arguments":`+args+`}]}`).text()
				}
				names := `{` + session + `}`
				for _, answer := range []string{p.tool("show_environment", names).text(), inBatch(names)} {
					if strings.Contains(answer, "visible") || strings.Contains(answer, "sekrit") || !strings.Contains(answer, "API_TOKEN") || !strings.Contains(answer, "PLAIN") {
						t.Errorf("%s, %s: names are %s", tier, form, answer)
					}
				}
				for _, name := range []string{"PLAIN", "API_TOKEN", "DATABASE_URL"} {
					args := fmt.Sprintf(`{"name":%q,%s}`, name, session)
					hidden := name != "PLAIN"
					for _, c := range []struct {
						answer string
						hidden bool
					}{{p.tool("show_environment", args).text(), hidden && readonly}, {inBatch(args), hidden}} {
						if shown := strings.Contains(c.answer, "visible") || strings.Contains(c.answer, "sekrit"); shown == c.hidden || !strings.Contains(c.answer, name) {
							t.Errorf("%s, %s: %s is %s", tier, form, name, c.answer)
						}
					}
				}
				all := `{"values":true,` + session + `}`
				if readonly {
					p.fails("show_environment", all, "values=true needs the tier mutating", "give name for one value")
				} else if answer := p.tool("show_environment", all).text(); strings.Count(answer, "sekrit") != 2 || !strings.Contains(answer, "visible") {
					t.Errorf("%s, %s: all values are %s", tier, form, answer)
				}
				if answer := inBatch(all); !strings.Contains(answer, "values=true needs the tier mutating") {
					t.Errorf("%s, %s: all values in a batch are %s", tier, form, answer)
				}
			}
		}
	}
}

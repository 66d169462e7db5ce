package gap

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

func dialect(t *testing.T, text string) *Dialect {
	t.Helper()
	d, err := ParseDialect("d.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Calls and answers go through the map, and what the server does not have is not
// asked.
func TestDialect(t *testing.T) {
	d := dialect(t, `
name = "other"
case = "camel"
[tools.list_panes]
name = "panes"
parameters = { filters = "" }
fields = { result = "all.panes" }
rows = { pane_id = "id", id = "pane_title" }
[tools.run_shell]
name = ""
`)
	tool, arguments, err := d.Ask("list_panes", map[string]any{"session_name": "a", "x": 1})
	if got := fmt.Sprint(tool, arguments, err); got != "panesmap[sessionName:a x:1] <nil>" {
		t.Error(got)
	}
	if tool, _, err := d.Ask("kill_pane", nil); tool != "kill_pane" || err != nil {
		t.Errorf("%s, %v", tool, err)
	}
	for _, tt := range []struct {
		tool, parameter, want string
	}{
		{"list_panes", "filters", "the server's panes offers nothing for the parameter filters"},
		{"run_shell", "x", "the server offers nothing for the tool run_shell"},
	} {
		_, _, err := d.Ask(tt.tool, map[string]any{tt.parameter: 1})
		if _, ok := err.(NotOffered); !ok || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	got, err := d.Answer("list_panes", json.RawMessage(`{"all": {"panes": [{"id": "%1", "paneTitle": "one"}, {"id": "%2"}], "leftOver": 12345678901234567890}, "HOME": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatal(err)
	}
	row := func(kv ...any) any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	rows := v.(map[string]any)["result"]
	if diff := cmp.Diff([]any{row("id", "one", "pane_id", "%1", "pane_title", "one"), row("id", "%2", "pane_id", "%2")}, rows); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(got), `"left_over":12345678901234567890`) || !strings.Contains(string(got), `"HOME":1`) {
		t.Errorf("%s", got)
	}
	// The order of what is renamed is always the same.
	for range 20 {
		got, err := d.Answer("list_panes", json.RawMessage(`{"all": {"panes": [{"id": "%1", "paneTitle": "one"}]}}`))
		if want := `"result":[{"id":"one","pane_title":"one","pane_id":"%1"}]`; err != nil || !strings.Contains(string(got), want) {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
	}
	_, _, err = dialect(t, "name = \"x\"\n[tools.t]\nparameters = { a = \"\", b = \"\", c = \"\" }\n").Ask("t", map[string]any{"c": 1, "b": 1, "a": 1})
	if want := "parameter a"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	// What the server always wants, a negated boolean, and values of its own.
	_, arguments, err = dialect(t, `
name = "values"
[tools.split_window]
parameters = { detach = "focus", direction = "split" }
constants = { format = "json", depth = 2 }
values.detach = { true = false, false = true }
values.size = { "70%" = 70 }
values.direction = { right = "horizontal" }
`).Ask("split_window", map[string]any{"detach": true, "size": "70%", "direction": "right", "pane_id": "%0"})
	if got := fmt.Sprint(arguments, err); got != "map[depth:2 focus:false format:json pane_id:%0 size:70 split:horizontal] <nil>" {
		t.Error(got)
	}
	var none *Dialect
	if same, err := none.Answer("x", []byte("{}")); string(same) != "{}" || err != nil {
		t.Errorf("%s, %v", same, err)
	}
}

// A draft is a dialect with the server's names of the same words, and what is left to do in
// comments; where no dialect fits, one sentence says so.
func TestDraft(t *testing.T) {
	tools := map[string]*Tool{
		"list_panes":  {Parameters: map[string]bool{"session_name": true, "filters": true}, Fields: map[string]bool{"result": true}},
		"kill_window": {Parameters: map[string]bool{"window_id": true}}, "run_shell": {}, "split_window": {}, "show_option": {},
	}
	o := Offer{"list-panes": {"sessionName", "filter-by", "limit"}, "KillWindow": {"window-id"}, "find\n": nil, "splitPane": {"size", "direction"}}
	text := o.Draft(tools)
	d := dialect(t, text)
	tool, arguments, err := d.Ask("list_panes", map[string]any{"session_name": "a"})
	if got := fmt.Sprint(tool, arguments, err); got != "list-panesmap[sessionName:a] <nil>" {
		t.Error(got)
	}
	tool, arguments, err = d.Ask("kill_window", map[string]any{"window_id": "@0"})
	if got := fmt.Sprint(tool, arguments, err); got != "KillWindowmap[window-id:@0] <nil>" {
		t.Error(got)
	}
	for _, want := range []string{
		"# filters = \"\" # perhaps \"filter-by\"\n", "# [tools.run_shell]\n# name = \"\"\n", "# [tools.show_option]\n# name = \"\"\n",
		"# [tools.split_window]\n# name = \"\" # perhaps \"splitPane\"\n", "# the server's: [\"filter-by\", \"limit\", \"sessionName\"]\n",
		`other tools, with their parameters:` + "\n#   \"find\\n\" []\n#   \"splitPane\" [\"direction\", \"size\"]\n", "# fields = { \"result\" = \"\" }\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if found := d.Misnamed(tools, o); found != nil {
		t.Errorf("%q", found)
	}
	// What is in comments is TOML without them.
	var keys map[string]any
	if err := toml.Unmarshal([]byte(regexp.MustCompile(`(?m)^# (\[|\w+ = )`).ReplaceAllString(text, "$1")), &keys); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	if got := o.Unfit(tools); !strings.HasPrefix(got, "no dialect fits the server: for the closest, ") || !strings.Contains(got, "lacks 5 of the 5 tools") {
		t.Error(got)
	}
	if got := (Offer{"list_panes": nil, "run_shell": nil}).Unfit(tools); got != "" {
		t.Error(got)
	}
}

// A dialect is detected where exactly one fits.
func TestDetect(t *testing.T) {
	offers := map[string]Offer{
		"libtmux-mcp":         {"call_read_tools_batch": nil, "display_message": {"format_string"}},
		"libtmux-mcp-tiers":   {"call_readonly_tools_batch": nil, "display_message": {"format_string"}},
		"libtmux-camel":       {"call_readonly_tools_batch": nil, "display_message": {"format", "paneId"}},
		"libtmux-ports":       {"call_read_tools_batch": nil, "get_tmux_variables": {"names"}, "run_shell_command": nil, "clear_pane_scrollback": nil, "kill_pane": {"pane_id"}},
		"libtmux-ports-camel": {"call_read_tools_batch": nil, "get_tmux_variables": {"names"}, "run_shell_command": nil, "clear_pane_scrollback": nil, "kill_pane": {"paneId"}},
		// Where two fit, none is certain.
		" ": {"call_read_tools_batch": nil, "call_readonly_tools_batch": nil, "display_message": {"format_string"}},
		"":  {"list_sessions": nil, "capture_pane": {"paneId"}},
	}
	for want, o := range offers {
		d, err := o.Detect()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if d != nil {
			got = d.Name
		}
		if got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Our own server's dialect is the scripts' own.
	all, err := Dialects()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if offers[d.Name] == nil {
			t.Errorf("no offer above is in the dialect %s", d.Name)
		}
	}
}

package adapter

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// words splits a line at blanks; two quotes are an empty word.
func words(line string) (all []string) {
	for _, w := range strings.Fields(line) {
		if w == "''" {
			w = ""
		}
		all = append(all, w)
	}
	return all
}

// What scripts write, and what is sent.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, method, params string }{
		{"info", "get", `{"target":"server"}`},
		{"show %0", "get", `{"target":"%0"}`},
		{"show /dev/pts/3", "get", `{"target":"/dev/pts/3"}`},
		{"list panes", "list", `{"kind":"panes"}`},
		{"list panes 0", "list", `{"filter":"0","kind":"panes"}`},
		{"list panes ''", "list", `{"kind":"panes"}`},
		{"list windows -in $0", "list", `{"kind":"windows","within":"$0"}`},
		{"list panes -in @1 #{==:a b,c}", "list", `{"filter":"#{==:a b,c}","kind":"panes","within":"@1"}`},
		{"list buffers -F #{buffer_name}", "list", `{"format":"#{buffer_name}","kind":"buffers"}`},
		{"list panes -in @1 -F x y", "list", `{"filter":"y","format":"x","kind":"panes","within":"@1"}`},
		{"display #{version}", "display", `{"format":"#{version}"}`},
		{"display @1 #{window_id}", "display", `{"format":"#{window_id}","target":"@1"}`},
		{"display @1 ''", "display", `{"format":"","target":"@1"}`},
		{"search err", "search", `{"pattern":"err"}`},
		{"search e*4 glob ignore-case", "search", `{"ignore_case":true,"pattern":"e*4","syntax":"glob"}`},
		{"search ^e regexp", "search", `{"pattern":"^e","syntax":"regexp"}`},
		{"search e ignore-case", "search", `{"ignore_case":true,"pattern":"e"}`},
		{"search glob", "search", `{"pattern":"glob"}`},
		{"reset %1", "reset", `{"pane":"%1"}`},
		{"send-keys %0", "send_keys", `{"keys":[],"pane":"%0"}`},
		{"send-keys %0 -R -N 3 -l a b", "send_keys", `{"keys":["a","b"],"literal":true,"pane":"%0","repeat":3,"reset":true}`},
		{"send-keys %0 -R ''", "send_keys", `{"keys":[""],"pane":"%0","reset":true}`},
		{"send-keys %0 -l -x", "send_keys", `{"keys":["-x"],"literal":true,"pane":"%0"}`},
		{"send-keys %0 Enter -R", "send_keys", `{"keys":["Enter","-R"],"pane":"%0"}`},
		{"capture %0", "capture", `{"pane":"%0"}`},
		{"pending %0", "capture", `{"pane":"%0","pending":true}`},
		{"run-shell echo a", "run_shell", `{"command":"echo a"}`},
		{"run-shell -c /x y -E", "run_shell", `{"command":"y -E","dir":"/x"}`},
		{"run-shell -c /x -E pwd", "run_shell", `{"command":"pwd","dir":"/x","stderr":true}`},
		{"new-session x", "new_session", `{"name":"x"}`},
		{"select-window $0 2", "select_window", `{"session":"$0","window":"2"}`},
		{"last-window $0", "last_window", `{"session":"$0"}`},
		{"command @0 rename-window", "command", `{"args":[],"name":"rename-window","target":"@0"}`},
		{"command %0 send-keys -- ''", "command", `{"args":["--",""],"name":"send-keys","target":"%0"}`},
		{"type @0 window_zoomed_flag", "get", `{"target":"@0"}`},
		{"fields a b", "get", `{"target":"server"}`},
	} {
		c, err := Parse(words(test.line))
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		r := c.Requests(nil)[0]
		if got, _ := json.Marshal(r.Params); r.Method != test.method || string(got) != test.params {
			t.Errorf("%s: %s %s, want %s %s", test.line, r.Method, got, test.method, test.params)
		}
		if v := verbOf(r.Method); v == nil {
			t.Errorf("no verb %s", r.Method)
		} else {
			for name := range r.Params {
				if v.param(name).Name == "" {
					t.Errorf("%s has no parameter %s", r.Method, name)
				}
			}
		}
	}
	c, err := Parse(words("fields pane_id x"))
	if got, _ := json.Marshal(c.Requests([]string{"server", "%0"})); err != nil || string(got) !=
		`[{"method":"get","params":{"target":"server"}},{"method":"get","params":{"target":"%0"}}]` {
		t.Errorf("fields: %s, %v", got, err)
	}
}

func TestParseMisuse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                     "want one of these verbs",
		"nothing":              "[list panes|windows|sessions|clients|buffers [-in ID] [-F FORMAT] [FILTER]]",
		"info x":               `usage: api info, not ["x"]`,
		"show":                 "usage: api show ID, not []",
		"show ''":              "usage: api show ID",
		"list":                 "usage: api list panes|",
		"list nothing":         "usage: api list panes|",
		"list panes -in":       "usage: api list panes|",
		"display":              "usage: api display [ID] FORMAT",
		"display a b c":        "usage: api display [ID] FORMAT",
		"search a glob x":      "usage: api search PATTERN [glob|regexp] [ignore-case]",
		"search a regexp glob": "usage: api search PATTERN [glob|regexp] [ignore-case]",
		"send-keys":            "usage: api send-keys PANE [-R] [-N COUNT] [-l] [KEY…]",
		"send-keys %0 -N":      "usage: api send-keys",
		"send-keys %0 -N x":    "usage: api send-keys",
		"send-keys %0 -N -1":   "usage: api send-keys",
		"run-shell":            "usage: api run-shell [-c DIR] [-E] [-b] [-d SECONDS] [-C] [-t PANE] COMMAND, not []",
		"run-shell -E":         "usage: api run-shell [-c DIR] [-E] [-b] [-d SECONDS] [-C] [-t PANE] COMMAND",
		"select-window $0":     "usage: api select-window SESSION INDEX",
		"command %0":           "usage: api command ID NAME [ARG…]",
		"fields":               "usage: api fields NAME…",
		"fields a ''":          "usage: api fields NAME…",
		"type @0":              "usage: api type ID NAME",
		"type @0 a b":          "usage: api type ID NAME",
	} {
		_, err := Parse(words(line))
		var misuse Misuse
		if !errors.As(err, &misuse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want a Misuse with %s", line, err, want)
		}
	}
}

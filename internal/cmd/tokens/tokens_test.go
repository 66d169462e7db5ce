package main

import (
	"strings"
	"testing"
)

// table is a table of the tokens that every row type needs, and more.
func table(rows ...string) string {
	need := []string{
		`{"name": "buffer_name", "scope": "buffer", "type": "string", "since": "3.2", "doc": "A."}`,
		`{"name": "client_name", "scope": "client", "type": "string", "since": "3.2", "doc": "A."}`,
		`{"name": "pane_id", "scope": "pane", "type": "PaneID", "since": "3.2", "doc": "A."}`,
		`{"name": "session_id", "scope": "session", "type": "SessionID", "since": "3.2", "doc": "A."}`,
		`{"name": "window_id", "scope": "window", "type": "WindowID", "since": "3.2", "doc": "A."}`,
	}
	return "[" + strings.Join(append(need, rows...), ",") + "]"
}

func TestFieldNamesAndTypes(t *testing.T) {
	for _, test := range []struct{ name, rows, want string }{
		{"plain", `{"name": "z_x", "scope": "pane", "type": "int", "since": "3.2", "doc": "A."}`,
			"ZX int `json:\"z_x\" tmux:\"z_x\"`"},
		{"an initialism", `{"name": "z_tty", "scope": "pane", "type": "string", "since": "3.2", "doc": "A."}`,
			"ZTTY string `json:\"z_tty\" tmux:\"z_tty\"`"},
		{"newer than the oldest tmux", `{"name": "z_on_flag", "scope": "pane", "type": "bool", "since": "3.6", "doc": "A."}`,
			"// A. Since tmux 3.6.\n\tZOn *bool `json:\"z_on_flag\" tmux:\"z_on_flag,since=3.6\"`"},
		{"gone", `{"name": "z_at", "scope": "pane", "type": "time", "since": "3.2", "until": "3.7", "doc": "A."}`,
			"// A. Last in tmux 3.7.\n\tZAt *time.Time `json:\"z_at\" tmux:\"z_at,until=3.7\"`"},
		{"nullable", `{"name": "z", "scope": "pane", "type": "colour", "since": "3.2", "nullable": true, "doc": "A."}`,
			"Z *string `json:\"z\" tmux:\"z\"`"},
		{"a nullable list", `{"name": "z", "scope": "pane", "type": "[]int", "since": "3.2", "nullable": true, "doc": "A."}`,
			"Z []int `json:\"z\" tmux:\"z\"`"},
		{"a name of its own", `{"name": "z", "scope": "pane", "type": "int", "since": "3.2", "field": "Last", "doc": "A."}`,
			"Last int `json:\"z\" tmux:\"z\"`"},
		{"_flag that stays", `{"name": "z", "scope": "pane", "type": "int", "since": "3.2", "doc": "A."},
			{"name": "z_flag", "scope": "pane", "type": "bool", "since": "3.2", "doc": "A."}`,
			"ZFlag bool `json:\"z_flag\" tmux:\"z_flag\"`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := parse([]byte(table(test.rows)))
			if err != nil {
				t.Fatal(err)
			}
			src, err := generate(list)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(src), "\t"+test.want+"\n") {
				t.Errorf("no %s in:\n%s", test.want, src)
			}
		})
	}
}

func TestTwoTokensCannotBeOneField(t *testing.T) {
	list, err := parse([]byte(table(
		`{"name": "z", "scope": "pane", "type": "int", "since": "3.2", "field": "Same", "doc": "A."}`,
		`{"name": "zz", "scope": "pane", "type": "int", "since": "3.2", "field": "Same", "doc": "A."}`,
	)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate(list); err == nil || !strings.Contains(err.Error(), "z and zz would both be the field Same") {
		t.Errorf("got the error %v", err)
	}
}

func TestBadTables(t *testing.T) {
	row := func(edit ...string) string {
		r := `{"name": "z", "scope": "pane", "type": "int", "since": "3.2", "doc": "A."}`
		return strings.NewReplacer(edit...).Replace(r)
	}
	for _, test := range []struct{ name, table, want string }{
		{"no JSON", `{`, "read token table"},
		{"no rows", `[]`, "token table is empty"},
		{"an unknown key", table(row(`"doc"`, `"dok"`)), `unknown field "dok"`},
		{"an unknown scope", table(row(`"pane"`, `"pain"`)), `token "z": unknown scope "pain"`},
		{"an unknown type", table(row(`"int"`, `"uint"`)), `token "z": unknown type "uint"`},
		{"a patch release", table(row(`3.2`, `3.2a`)), `token "z": since "3.2a" is not a release`},
		{"a release too old", table(row(`3.2`, `3.1`)), `token "z": since "3.1" is not a release`},
		{"gone before it came", table(row(`"3.2"`, `"3.4", "until": "3.3"`)), `token "z": until "3.3" is not a release from 3.4`},
		{"a bad name", table(row(`"z"`, `"Z"`)), `token "Z": not a token's name`},
		{"a bad field", table(row(`"A."`, `"A.", "field": "x"`)), `token "z": "x" is no exported Go name`},
		{"no sentence", table(row(`"A."`, `"A"`)), `token "z": doc "A" is not a sentence`},
		{"out of order", table(row(`"z"`, `"a"`)), `token "a" is out of order after "window_id"`},
		{"twice", table(row(), row()), `token "z" is out of order after "z"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := parse([]byte(test.table)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one with %s", err, test.want)
			}
		})
	}
}

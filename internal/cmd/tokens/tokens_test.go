package main

import (
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
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
	for _, c := range cases.Load(t, "testdata/fields.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			list, err := parse([]byte(table(c.Texts["rows"])))
			if err != nil {
				t.Fatal(err)
			}
			src, err := generate(list)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(src), c.Texts["field"]) {
				t.Errorf("no %s in:\n%s", c.Texts["field"], src)
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

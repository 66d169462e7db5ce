package clients

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// What keeps a client from running an entry, one fault at a time. The entry is flat.
func TestFaults(t *testing.T) {
	t.Parallel()
	type entry = map[string]any
	for _, c := range []struct {
		name    string
		dialect dialect
		of      string // the entry's name, if it is of another server
		entry   entry
		want    string // of several, separated by "; "
	}{
		{"nothing", dialect{}, "", entry{"command": "x"}, ""},
		{"no command and no address", dialect{}, "", entry{}, ""},
		{"no command and no address, checked", dialect{Whole: true, URL: "url"}, "", entry{}, "c refuses its whole config because of an entry without a command or a url"},
		{"the same of another server", dialect{Whole: true, URL: "url"}, `"s"`, entry{}, ""},
		{"the same of another server, with a toggle", dialect{Whole: true, URL: "url", Toggle: "on"}, `"s"`, entry{}, `c refuses its whole config because of "s", an entry without a command or a url`},
		{"only a toggle", dialect{Whole: true, URL: "url", Toggle: "on"}, "", entry{"on": true}, ""},
		{"an address", dialect{Remotes: []string{"http"}}, "", entry{"url": "u", "type": "http"}, ""},
		{"an address of another type", dialect{Remotes: []string{"http"}, Names: map[string]string{"type": "transport"}}, "", entry{"url": "u", "type": "sse"}, `c ignores an entry with a url, of transport "sse"`},
		{"an address without a type", dialect{Remotes: []string{"http"}}, "", entry{"url": "u"}, "c ignores an entry with a url, without a type"},
		{"an address and what does not belong to it", dialect{NotAddress: []string{"args", "env"}}, "", entry{"url": "u", "env": entry{}}, "c ignores an entry with a url and env"},
		{"an address that counts", dialect{Both: "url", Whole: true}, "", entry{"url": "u", "command": "x"}, "c uses the url of the entry, not its command"},
		{"an address that counts, alone", dialect{Both: "url"}, "", entry{"url": "u"}, ""},
		{"a type of an address, if types do not count", dialect{}, "", entry{"command": "x", "type": "http"}, ""},
		{"an address that must not be", dialect{Both: "refused", Whole: true}, "", entry{"url": "u", "command": "x"}, "c refuses its whole config because of an entry with a command and a url"},
		{"an address that does not count", dialect{}, "", entry{"url": "u", "command": "x"}, ""},
		{"a command and what does not belong to it", dialect{NotCommand: []string{"headers"}}, "", entry{"command": "x", "headers": nil}, "c ignores an entry with a command and headers"},
		{"a type", dialect{Types: []string{"stdio"}}, "", entry{"command": "x", "type": "local"}, `c ignores an entry of type "local"`},
		{"a type that is none", dialect{Types: []string{"stdio"}}, "", entry{"command": "x", "type": json.Number("1")}, `c ignores an entry of type "1"`},
		{"no type", dialect{Types: []string{"stdio"}}, "", entry{"command": "x"}, "c ignores an entry without a type"},
		{"a field that it needs", dialect{Needs: []string{"args"}}, "", entry{"command": "x"}, "c ignores an entry without args"},
		{"a command that is no text", dialect{Strict: []string{"command"}}, "", entry{"command": []any{"x"}}, "c ignores an entry whose command is not a string"},
		{"a command that is no list", dialect{Strict: []string{"command"}, Argv: true, Names: map[string]string{"command": "cmd"}}, "", entry{"command": "x"}, "c ignores an entry whose cmd is not a list of strings"},
		{"args and cwd that are no texts", dialect{Strict: []string{"args", "cwd"}}, "", entry{"command": "x", "args": []any{json.Number("1")}, "cwd": nil}, "c ignores an entry whose args are not a list of strings; c ignores an entry whose cwd is not a string"},
		{"env with a number", dialect{Strict: []string{"env"}, Names: map[string]string{"env": "environment"}}, "", entry{"command": "x", "env": entry{"N": json.Number("1")}}, "c ignores an entry whose environment has values that are not strings"},
		{"all as it must be", dialect{Strict: []string{"command", "args", "env", "cwd"}}, "", entry{"command": "x", "args": []any{"y"}, "env": entry{"N": "1"}, "cwd": "/"}, ""},
		{"fields of other kinds", dialect{Fields: map[string]string{"timeout": "number", "enabled": "boolean"}}, "", entry{"command": "x", "timeout": "1", "enabled": "yes"}, "c ignores an entry whose enabled is not a boolean; c ignores an entry whose timeout is not a number"},
		{"fields of their kinds", dialect{Fields: map[string]string{"timeout": "number", "enabled": "boolean"}}, "", entry{"command": "x", "timeout": json.Number("1"), "enabled": true}, ""},
	} {
		client := &Client{Name: "c", Dialect: c.dialect}
		if got := strings.Join(client.Faults(c.entry, c.of), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What an entry that is swapped keeps, gets and loses: the names of the fields.
func TestBecome(t *testing.T) {
	t.Parallel()
	type entry = map[string]any
	plain := dialect{Type: "stdio"}
	for _, c := range []struct {
		name        string
		dialect     dialect
		argv        []string
		old, under  entry
		set, remove string
	}{
		{"a command", plain, []string{"x", "y"}, entry{"command": "a", "timeout": "1", "other": "1"}, nil, "command args", ""},
		{"a command without arguments", plain, []string{"x"}, entry{"command": "a"}, nil, "command", ""},
		{"arguments that go", plain, []string{"x"}, entry{"command": "a", "args": nil}, nil, "command args", ""},
		{"arguments that a weaker file would add", plain, []string{"x"}, entry{"command": "a"}, entry{"args": []any{"b"}}, "command args", ""},
		{"arguments that the client needs", dialect{Needs: []string{"args"}}, []string{"x"}, entry{"command": "a"}, nil, "command args", ""},
		{"an address", plain, []string{"x", "y"}, entry{"type": "http", "url": "u", "headers": "h", "timeout": "1"}, nil, "type command args", "headers url"},
		{"an address, where entries have no type", dialect{}, []string{"x", "y"}, entry{"type": "http", "url": "u"}, nil, "command args", "url type"},
		{"an address in a weaker file", plain, []string{"x", "y"}, entry{"command": "a", "headers": "h"}, entry{"type": "http"}, "type command args", "headers"},
		{"a type that another file gives", dialect{Type: "stdio", Types: []string{"stdio"}}, []string{"x", "y"}, entry{"command": "a"}, entry{"type": "stdio"}, "command args", ""},
		{"a type that each file must have", dialect{Type: "stdio", Types: []string{"stdio"}, Toggle: "on"}, []string{"x", "y"}, entry{"command": "a"}, entry{"type": "stdio"}, "type command args", ""},
		{"an inner object", dialect{Type: "stdio", Inner: "transport"}, []string{"x", "y"}, entry{"transport": entry{"command": "a", "cwd": "/", "type": "http"}}, nil, "command args cwd", "transport"},
		{"a command that is an object", dialect{Inner: "command"}, []string{"x", "y"}, entry{"command": entry{"path": "a"}}, nil, "command args", ""},
		{"a directory", plain, []string{"x", "y"}, entry{"command": "a", "cwd": "/"}, nil, "command args", ""},
		{"a source that is the user's own field", plain, []string{"x", "y"}, entry{"source": "extension"}, nil, "command args", ""},
		{"an extension's", dialect{Zed: true}, []string{"x", "y"}, entry{"source": "extension"}, nil, "command args source", ""},
	} {
		set, remove := c.dialect.become(c.argv, nil, c.old, c.under)
		var names []string
		for _, f := range set {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, strings.Fields(c.set)) || !slices.Equal(remove, strings.Fields(c.remove)) {
			t.Errorf("%s: sets %s, removes %s", c.name, names, remove)
		}
	}
}

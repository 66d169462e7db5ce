package format

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// Texts that the programs would not read are refused, with the place.
func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 20000)
	for _, c := range []struct {
		name, text   string
		kinds        []Kind
		line, column int
		says         string
	}{
		{"a broken object", "{\"mcpServers\": {,}}", []Kind{JSON, JSONComments, JSONC}, 1, 17, "invalid character ','"},
		{"an end too early", "{\n  \"a\": [1,", []Kind{JSON, JSONComments, JSONC}, 0, 0, "unexpected end"},
		{"a second document", "{}\n{}", []Kind{JSON, JSONComments, JSONC}, 2, 1, "after top-level value"},
		{"a column counted in characters", "{\"é😀\": x}", []Kind{JSON, JSONComments, JSONC}, 1, 8, "x"},
		{"a literal that is none", "{\"a\": nul}", []Kind{JSON, JSONComments, JSONC}, 0, 0, ""},
		{"a leading zero", "{\"a\": 01}", []Kind{JSON, JSONComments, JSONC}, 0, 0, ""},
		{"a newline in a string", "{\"a\": \"x\ny\"}", []Kind{JSON, JSONComments, JSONC}, 0, 0, ""},
		{"nesting without end", "{\"a\": " + deep, []Kind{JSON, JSONComments, JSONC}, 1, 10006, "depth|deeper"},
		{"comments in strict JSON", "// c\n{}", []Kind{JSON}, 1, 1, "'/'"},
		{"a trailing comma in strict JSON", "{\"a\": 1,}", []Kind{JSON}, 1, 9, "'}'"},
		{"a trailing comma where only comments are allowed", "{\n  \"a\": [1, 2 /* x */ , ]\n}", []Kind{JSONComments}, 2, 22, "trailing comma"},
		{"a trailing comma in the root", "{\n  \"a\": {}, // c\n}", []Kind{JSONComments}, 2, 10, "trailing comma"},
		{"a byte order mark where none is read", bom + "{}", []Kind{JSONComments}, 1, 1, "byte order mark"},
		{"an error behind a byte order mark", bom + "{x", []Kind{JSON, JSONC}, 1, 2, "x"},
		{"a comment without end", "{} /* c", []Kind{JSONComments, JSONC}, 1, 4, "comment"},
		{"a carriage return in a line comment", "{ // c\r \"a\": 1\n}", []Kind{JSONComments, JSONC}, 1, 7, "carriage return"},
		{"UTF-16", "\xff\xfe{\x00}\x00", []Kind{JSON, JSONComments, JSONC, TOML}, 1, 1, "UTF-16"},
		{"UTF-16, big-endian", "\xfe\xff\x00{\x00}", []Kind{JSON, JSONComments, JSONC, TOML}, 1, 1, "UTF-16"},
		{"UTF-16 without a mark", "{\x00}\x00", []Kind{JSON, JSONComments, JSONC, TOML}, 1, 2, "NUL"},
		{"invalid UTF-8", "{\n\"é\": \"\xff\"}", []Kind{JSON, JSONComments, JSONC}, 2, 7, "UTF-8"},
		{"invalid UTF-8 in TOML", "a = 1\nb = \"\xc3\"", []Kind{TOML}, 2, 6, "UTF-8"},
		{"a root that is an array", "\n [1]", []Kind{JSON, JSONComments, JSONC}, 2, 2, "the root is not an object but an array"},
		{"a root that is null", "null", []Kind{JSON, JSONComments, JSONC}, 1, 1, "the root is not an object but null"},
		{"a table twice", "[mcp_servers.srv]\na=1\n[mcp_servers.srv]\n", []Kind{TOML}, 3, 2, "exists"},
		{"a key twice", "[m]\na = 1\n a = 2\n", []Kind{TOML}, 3, 2, ""},
		{"an inline table extended", "m = {}\n[m.srv]\n", []Kind{TOML}, 2, 0, ""},
		{"a value that is none", "[m]\nx = yes\n", []Kind{TOML}, 2, 5, ""},
		{"a column counted in characters, in TOML", "\"é😀\" = x", []Kind{TOML}, 1, 8, "'x'"},
		{"a header without end", "[m", []Kind{TOML}, 1, 0, ""},
		{"nesting without end in TOML", "a = " + deep, []Kind{TOML}, 1, 0, "nested"},
	} {
		for _, kind := range c.kinds {
			t.Run(kind.String()+"/"+c.name, func(t *testing.T) {
				_, err := Parse(kind, []byte(c.text))
				if err == nil {
					t.Fatal("was accepted")
				}
				line, column := place(err)
				if c.line != 0 && line != c.line || c.column != 0 && column != c.column || line == 0 {
					t.Errorf("at line %d, column %d, want %d, %d: %v", line, column, c.line, c.column, err)
				}
				if !regexp.MustCompile(c.says).MatchString(err.Error()) {
					t.Errorf("%q does not say %q", err, c.says)
				}
			})
		}
	}
}

func place(err error) (line, column int) {
	var se *SyntaxError
	var te *TypeError
	switch {
	case errors.As(err, &se):
		return se.Line, se.Column
	case errors.As(err, &te):
		return te.Line, te.Column
	}
	return 0, 0
}

// What stands in the way of an entry, or in its place, is never written over.
func TestSetRefuses(t *testing.T) {
	for _, c := range []struct {
		kind            Kind
		text, container string
		says            string
	}{
		{JSON, `{"mcpServers": [1]}`, "mcpServers", `line 1, column 16: "mcpServers" is not an object but an array`},
		{JSON, `{"mcpServers": "x"}`, "mcpServers", `"mcpServers" is not an object but a string`},
		{JSON, `{"mcpServers": false}`, "mcpServers", `"mcpServers" is not an object but a boolean`},
		{JSON, `{"mcpServers": -1}`, "mcpServers", `"mcpServers" is not an object but a number`},
		{JSON, `{"mcpServers": {}, "mcpServers": []}`, "mcpServers", `"mcpServers" is not an object but an array`},
		{JSON, "{\"projects\": {\n\"/x\": 5}}", "projects,/x,mcpServers", `line 2, column 7: "projects./x" is not an object but a number`},
		{JSON, `{"projects": []}`, "projects,/x,mcpServers", `"projects" is not an object but an array`},
		{JSON, `{"mcpServers": {"srv": "str"}}`, "mcpServers", `"mcpServers.srv" is not an object but a string`},
		{JSON, `{"mcpServers": {"srv": ["x"]}}`, "mcpServers", `"mcpServers.srv" is not an object but an array`},
		{JSON, `{"mcpServers": {"srv": null}}`, "mcpServers", `"mcpServers.srv" is not an object but null`},
		{JSON, `{"mcpServers": {"srv": {"env": "A=1"}}}`, "mcpServers", `"mcpServers.srv.env" is not an object but a string`},
		{JSONC, "{\n  // c\n  \"mcp\": [],\n}", "mcp", `line 3, column 10: "mcp" is not an object but an array`},
		{TOML, "[[m]]\nx = 1", "m", `line 1, column 1: "m" is not a table but an array`},
		{TOML, "m = []", "m", `"m" is not a table but an array`},
		{TOML, "m = 1.5", "m", `"m" is not a table but a number`},
		{TOML, "m = 1979-05-27", "m", `"m" is not a table but a date or time`},
		{TOML, "[m]\nsrv = 'x'", "m", `line 2, column 1: "m.srv" is not a table but a string`},
		{TOML, "[[m.srv]]", "m", `"m.srv" is not a table but an array`},
		{TOML, "[m.srv]\nenv = [\"A=1\"]", "m", `line 2, column 1: "m.srv.env" is not a table but an array`},
	} {
		d := parse(t, c.kind, c.text)
		container := strings.Split(c.container, ",")
		e, err := d.Set(container, "srv", changes["env"])
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s:\nSet says %v, want %q\n%s", c.text, err, c.says, e.Out)
		}
		var te *TypeError
		if !errors.As(err, &te) {
			t.Errorf("%s: %T, want a *TypeError", c.text, err)
		}
		if strings.Contains(c.says, "env") {
			continue
		}
		if _, err := d.Lookup(container, "srv"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s:\nLookup says %v, want %q", c.text, err, c.says)
		}
	}
}

// Text that is not UTF-8 has no spelling in these languages; encoders would silently
// write something else.
func TestSetRefusesValuesItCannotWrite(t *testing.T) {
	for _, kind := range kinds {
		d := parse(t, kind, "")
		for name, c := range map[string]Change{
			"a string":        {New: Object{{"command", "/srv/\xff"}}},
			"an argument":     {New: Object{{"args", []string{"\xff"}}}},
			"a name":          {New: Object{{"\xff", "x"}}},
			"a nested string": {New: Object{{"env", Object{{"A", []any{"\xff"}}}}}},
		} {
			if _, err := d.Set([]string{"m"}, "srv", c); err == nil || !strings.Contains(err.Error(), "UTF-8") {
				t.Errorf("%v, %s: %v, want an error about UTF-8", kind, name, err)
			}
		}
		if _, err := d.Set([]string{"m"}, "srv", Change{New: Object{{"x", 1i}}}); err == nil {
			t.Errorf("%v: a complex number was written", kind)
		}
		if _, err := d.Set([]string{"m\xff"}, "srv", Change{}); err == nil {
			t.Errorf("%v: a container name that is not UTF-8 was written", kind)
		}
	}
	if _, err := parse(t, TOML, "").Set([]string{"m"}, "srv", Change{New: Object{{"x", nil}}}); err == nil || !strings.Contains(err.Error(), "null") {
		t.Errorf("a null in TOML: %v", err)
	}
}

package format

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Texts that the programs could not read are refused, with the position. Those with visible
// characters only are in testdata.
func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 20000)
	all := textCases(t, "refuse-parse.txtar")
	for _, c := range []struct {
		name, text  string
		kinds       []Kind
		place, says string
	}{
		{"nesting without end", "{\"a\": " + deep, kinds[:3], "1,10006", "depth|deeper"},
		{"an error behind a byte order mark", BOM + "{x", kinds[:3], "1,2", "x"},
		{"a carriage return in a line comment", "{ // c\r \"a\": 1\n}", []Kind{JSONComments, JSONC}, "1,7", "carriage return"},
		{"a line separator in a line comment", "{ // c\u2028 \"a\": 1\n}", []Kind{JSONComments, JSONC}, "1,7", "line separator"},
		{"UTF-16", "\xff\xfe{\x00}\x00", kinds, "1,1", "UTF-16"},
		{"UTF-16, big-endian", "\xfe\xff\x00{\x00}", kinds, "1,1", "UTF-16"},
		{"UTF-16 without a mark", "{\x00}\x00", kinds, "1,2", "NUL"},
		{"invalid UTF-8", "{\n\"é\": \"\xff\"}", kinds[:3], "2,7", "UTF-8"},
		{"invalid UTF-8 in TOML", "a = 1\nb = \"\xc3\"", []Kind{TOML}, "2,6", "UTF-8"},
		{"a line break of YAML 1.1", "a: \"b\u2028c\"", []Kind{YAML}, "1,6", "line break"},
		{"a lone carriage return", "a: 1\rb: 2\n", []Kind{YAML}, "1,5", "line break"},
		{"nesting without end in YAML", "a: " + deep, []Kind{YAML}, "1,1", "depth"},
		{"nesting without end in TOML", "a = " + deep, []Kind{TOML}, "1,0", "nested"},
	} {
		for _, kind := range c.kinds {
			all = append(all, textCase{name: c.name, kind: kind, before: c.text, place: c.place, says: c.says})
		}
	}
	for _, c := range all {
		t.Run(c.kind.String()+"/"+c.name, func(t *testing.T) {
			_, err := Parse(c.kind, []byte(c.before))
			if err == nil {
				t.Fatal("was accepted")
			}
			var wantLine, wantColumn int
			if _, err := fmt.Sscanf(c.place, "%d,%d", &wantLine, &wantColumn); err != nil {
				t.Fatal(err)
			}
			line, column := place(err)
			if wantLine != 0 && line != wantLine || wantColumn != 0 && column != wantColumn || line == 0 {
				t.Errorf("at line %d, column %d, want %s: %v", line, column, c.place, err)
			}
			if !regexp.MustCompile(c.says).MatchString(err.Error()) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
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

// A value in the way of an entry, or in its place, is never overwritten.
func TestSetRefuses(t *testing.T) {
	for _, c := range textCases(t, "refuse-set.txtar") {
		d := parse(t, c.kind, c.before)
		e, err := d.Set(c.container, "srv", changes["env"])
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s:\nSet says %v, want %q\n%s", c.before, err, c.says, e.Out)
		}
		if strings.HasSuffix(c.says, "without") { // in YAML: it is read, but not edited
			if _, err := d.Lookup(c.container, "srv"); err != nil {
				t.Errorf("%s:\nLookup says %v", c.before, err)
			}
			if _, err := d.Revert(c.container, "srv", Undo{}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s:\nRevert says %v, want %q", c.before, err, c.says)
			}
			continue
		}
		var te *TypeError
		if !errors.As(err, &te) {
			t.Errorf("%s: %T, want a *TypeError", c.before, err)
		}
		if strings.Contains(c.says, "env") {
			continue
		}
		if _, err := d.Lookup(c.container, "srv"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s:\nLookup says %v, want %q", c.before, err, c.says)
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
	long := strings.Repeat("\x01", 171)
	if _, err := parse(t, YAML, "").Set([]string{"m"}, long, Change{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long name in YAML: %v", err)
	}
	if _, err := parse(t, TOML, "").Set([]string{"m"}, "srv", Change{New: Object{{"x", nil}}}); err == nil || !strings.Contains(err.Error(), "null") {
		t.Errorf("a null in TOML: %v", err)
	}
}

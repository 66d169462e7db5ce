package terminal

import "testing"

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"one  two", 0, 4, "one  two"},
		{"one  two", 80, 4, "one two"},
		{"one two three", 11, 4, "one two\n    three"},
		{"äöü ß", 5, 0, "äöü ß"},
		{"incompressible", 5, 4, "incompressible"},
		{"", 5, 4, ""},
	} {
		if got := Wrap(c.text, c.width, c.indent); got != c.want {
			t.Errorf("Wrap(%q, %d, %d) = %q, want %q", c.text, c.width, c.indent, got, c.want)
		}
	}
}

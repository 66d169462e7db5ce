package format

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
)

// A textCase is a case of testdata: an edit, or a mask, and the exact resulting text. Its
// texts are in the notation of unnote. A case with several kinds is run for each.
type textCase struct {
	name      string
	kind      Kind
	container []string // a setting, joined with commas; ^list is List
	entry     string   // a setting; srv if it is not set
	change    Change   // a setting, the key of changes

	before, after string
	later         string // the text after the edit, as changed by others
	reverted      string // what Revert makes of after: before, if there is no such text

	says  string // a setting: a pattern for the error if the text is refused
	place string // a setting, "LINE,COLUMN" of the error
}

func textCases(t testing.TB, pattern string) (all []textCase) {
	t.Helper()
	for _, c := range cases.Load(t, "testdata/"+pattern, "kind", "container", "entry", "change", "says", "place") {
		change, ok := changes[c.One("change")]
		if !ok && c.One("change") != "" {
			t.Fatalf("%s: no such change: %v", c.Name, c.Settings)
		}
		for name, text := range c.Texts {
			c.Texts[name] = unnote(text)
		}
		container := strings.Split(strings.ReplaceAll(c.One("container"), "^list", List), ",")
		for _, name := range c.Settings["kind"] {
			kind := slices.IndexFunc(kinds, func(k Kind) bool { return k.String() == name })
			if kind < 0 {
				t.Fatalf("%s: no such kind: %s", c.Name, name)
			}
			all = append(all, textCase{
				c.Name, kinds[kind], container, cmp.Or(c.One("entry"), "srv"), change,
				c.Texts["before"], c.Texts["after"], c.Texts["later"], cmp.Or(c.Texts["reverted"], c.Texts["before"]),
				c.One("says"), c.One("place"),
			})
		}
	}
	return all
}

var kinds = []Kind{JSON, JSONComments, JSONC, TOML, YAML}

// unnote converts the notation of testdata to bytes: ^M before a newline is a carriage
// return, ^BOM a byte order mark, and a text that ends in $$ has no final newline.
func unnote(s string) string {
	s = strings.NewReplacer("^M\n", "\r\n", "^BOM", BOM).Replace(s)
	return strings.TrimSuffix(s, "$$\n")
}

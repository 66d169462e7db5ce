package format

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A textCase is a case of testdata: an edit, or a mask, and the exact text that it gives.
//
// Each file holds the cases of one topic. A section "case: NAME" begins a case; it may
// change the settings that stand above all cases: kind, container (joined with commas),
// entry (srv if it is not set) and change, a key of changes. The sections behind it are
// texts in the notation of unnote.
type textCase struct {
	name      string
	kind      Kind
	container []string
	entry     string
	change    Change

	before, after string
	later         string // what others have made of the text after the edit
	reverted      string // what Revert makes of after: before, if there is no such section
}

// cases reads the cases of the files of testdata that match the pattern.
func cases(t testing.TB, pattern string) []textCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	var all []textCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		preset := textCase{entry: "srv"}
		_, settings, _ := strings.Cut(string(archive.Comment), "\n\n")
		preset.set(t, settings)
		for _, section := range archive.Files {
			if name, ok := strings.CutPrefix(section.Name, "case: "); ok {
				c := preset
				c.name = name
				c.set(t, string(section.Data))
				all = append(all, c)
				continue
			}
			c, text := &all[len(all)-1], unnote(string(section.Data))
			switch section.Name {
			case "before":
				c.before, c.reverted = text, text
			case "after":
				c.after = text
			case "later":
				c.later = text
			case "reverted":
				c.reverted = text
			default:
				t.Fatalf("%s: no such section: %s", file, section.Name)
			}
		}
	}
	return all
}

// set makes settings, each a line "name: value".
func (c *textCase) set(t testing.TB, settings string) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(settings)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		ok := true
		switch name {
		case "kind":
			c.kind = Kind(slices.IndexFunc(kinds, func(k Kind) bool { return k.String() == value }))
			ok = c.kind >= 0
		case "container":
			c.container = strings.Split(value, ",")
		case "entry":
			c.entry = value
		case "change":
			c.change, ok = changes[value]
		default:
			ok = false
		}
		if !ok {
			t.Fatalf("no such setting: %s", line)
		}
	}
}

var kinds = []Kind{JSON, JSONComments, JSONC, TOML}

// unnote turns the notation of testdata into bytes: ^M before a newline is a carriage
// return, ^BOM a byte order mark, and a text that ends in $$ has no final newline.
func unnote(s string) string {
	s = strings.NewReplacer("^M\n", "\r\n", "^BOM", bom).Replace(s)
	return strings.TrimSuffix(s, "$$\n")
}

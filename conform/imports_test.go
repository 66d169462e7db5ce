package conform

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/rooms"
)

// mayImport says which rooms each room of conform/internal may import.
var mayImport = rooms.Plan{
	"gap":     "report",
	"child":   "gap report",
	"adapter": "child gap report",
	"schema":  "child",
	"script":  "adapter child gap report schema",
}

// TestRooms: imports of the rooms below this package only go down, and no room has become a
// place where everything is.
func TestRooms(t *testing.T) {
	t.Parallel()
	rooms.Check(t, mayImport, rooms.Bounds{Files: 10, Lines: 1350, Methods: 5})
}

// TestScriptIsBehindMain: this package knows the process of a script only as one that it can
// become.
func TestScriptIsBehindMain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if strings.HasSuffix(spec.Path.Value, `/conform/internal/script"`) {
				found = append(found, file)
			}
		}
	}
	if !slices.Equal(found, []string{"main.go"}) {
		t.Errorf("imported by %q, want main.go alone", found)
	}
}

package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayImport says which rooms each room of server/internal may import.
var mayImport = map[string]string{
	"lost":       "",
	"params":     "",
	"transcript": "",
	"runner":     "transcript",
	"caller":     "",
	"stdio":      "params",
	"reply":      "lost params stdio",
	"match":      "reply stdio",
	"target":     "params reply",
	"closing":    "caller reply",
	"guard":      "caller reply stdio target",
	"agents":     "caller reply target",
	"rows":       "caller match params reply target",
	"sockets":    "caller reply rows stdio target",
	"tool":       "guard params reply rows stdio target",
	"options":    "guard params reply target tool",
	"screen":     "agents caller match reply rows runner stdio target transcript",
	"subscribe":  "reply screen stdio",
	"typing":     "caller guard reply rows runner screen target tool transcript",
	"deliver":    "agents reply screen stdio target typing",
	"jobs":       "caller match params reply rows runner screen stdio target typing",
	"launch":     "params reply rows screen target typing",
	"tools":      "agents closing deliver guard jobs launch lost match options reply rows runner screen sockets stdio target tool typing",
}

// bounds are how many files and lines of code a room may have, and methods a type in it.
type bounds struct{ files, lines, methods int }

var (
	ofARoom = bounds{files: 30, lines: 3000, methods: 30}
	ofThis  = bounds{files: 20, lines: 2300, methods: 25} // this package
)

// TestRooms: imports of the rooms below this package only go down, and no room has become a
// place where everything is.
func TestRooms(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./internal/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	ofThis.hold(t, ".")
	rooms := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		room := filepath.Base(words[0])
		allowed, known := mayImport[room]
		if !known {
			t.Errorf("nothing says what room %s may import", room)
		}
		for _, imported := range words[1:] {
			name, own := strings.CutPrefix(imported, "tmuxmcp/server")
			if own && !slices.Contains(strings.Fields(allowed), filepath.Base(name)) {
				t.Errorf("room %s imports %s", room, imported)
			}
		}
		rooms++
		ofARoom.hold(t, filepath.Join("internal", room))
	}
	if rooms != len(mayImport) {
		t.Errorf("%d rooms, and %d that may import something", rooms, len(mayImport))
	}
}

// hold holds a directory to the bounds.
func (b bounds) hold(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, lines, methods := 0, 0, map[string]int{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines += set.File(f.Pos()).LineCount()
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	if files > b.files || lines > b.lines {
		t.Errorf("%s has %d files with %d lines", dir, files, lines)
	}
	for name, n := range methods {
		if n > b.methods {
			t.Errorf("type %s in %s has %d methods", name, dir, n)
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

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
	"lost":    "",
	"reply":   "lost params stdio",
	"stdio":   "params",
	"match":   "reply stdio",
	"caller":  "",
	"target":  "params reply",
	"guard":   "caller reply stdio target",
	"rows":    "caller match params reply target",
	"agents":  "caller reply target",
	"screen":  "agents caller match reply rows runner stdio target",
	"typing":  "caller guard reply rows runner screen target",
	"jobs":    "caller match params reply rows runner screen stdio target typing",
	"closing": "caller reply",
	"launch":  "params reply rows runner screen target typing",
	"deliver": "agents reply screen stdio target typing",
	"sockets": "caller reply rows stdio target",
}

// most is the number of files a room may have, and of methods a type in it.
const mostFiles, mostMethods = 30, 30

// TestRooms: imports of the rooms below this package only go down, and no room has become a
// place where everything is.
func TestRooms(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./internal/...").Output()
	if err != nil {
		t.Fatal(err)
	}
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
		isSmall(t, filepath.Join("internal", room))
	}
	if rooms != len(mayImport) {
		t.Errorf("%d rooms, and %d that may import something", rooms, len(mayImport))
	}
}

// isSmall holds a room to its bounds.
func isSmall(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, methods := 0, map[string]int{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	if files > mostFiles {
		t.Errorf("room %s has %d files", dir, files)
	}
	for name, n := range methods {
		if n > mostMethods {
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

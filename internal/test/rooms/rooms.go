// Package rooms holds a package to the plan of its internal packages: what each may import,
// and how large it may grow.
package rooms

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

// Plan says, of each package below a package's internal directory, which others of the same
// tree it may import, by the last element of their paths.
type Plan map[string]string

// Bounds are the most files, lines of code, and methods of one type that a package may have;
// zero is no bound.
type Bounds struct{ Files, Lines, Methods int }

// OfARoom are the bounds of each package of a plan, and OfAPackage those of other packages below
// the one that is checked.
var (
	OfARoom    = Bounds{Files: 30, Lines: 3000, Methods: 30}
	OfAPackage = Bounds{Files: 30, Lines: 3600, Methods: 30}
)

// Check fails the test if the package in the working directory is larger than bounds; if a
// package of its internal directory imports what the plan does not list, is larger than
// [OfARoom], or is not in the plan; or if another package below it is larger than [OfAPackage].
func Check(t *testing.T, plan Plan, bounds Bounds) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	bounds.hold(t, ".")
	root, below, _ := strings.Cut(string(out), "\n")
	root, _, _ = strings.Cut(root, " ")
	rooms := 0
	for line := range strings.Lines(below) {
		words := strings.Fields(line)
		dir := strings.TrimPrefix(words[0], root+"/")
		if !strings.HasPrefix(dir, "internal/") {
			OfAPackage.hold(t, dir)
			continue
		}
		room := filepath.Base(dir)
		allowed, known := plan[room]
		if !known {
			t.Errorf("nothing says what room %s may import", room)
		}
		for _, imported := range words[1:] {
			name, own := strings.CutPrefix(imported, root)
			if own && !slices.Contains(strings.Fields(allowed), filepath.Base(name)) {
				t.Errorf("room %s imports %s", room, imported)
			}
		}
		rooms++
		OfARoom.hold(t, dir)
	}
	if rooms != len(plan) {
		t.Errorf("%d rooms, and %d that may import something", rooms, len(plan))
	}
}

func (b Bounds) hold(t *testing.T, dir string) {
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
	if b.Files > 0 && files > b.Files || b.Lines > 0 && lines > b.Lines {
		t.Errorf("%s has %d files with %d lines", dir, files, lines)
	}
	for name, n := range methods {
		if n > b.Methods {
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

package tmux_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/tmux"
)

// packageDoc is the documentation of the package in a directory.
func packageDoc(t testing.TB, dir string) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range check.Must[[]string](t)(filepath.Glob(dir + "/*.go")) {
		if !strings.HasSuffix(path, "_test.go") {
			files = append(files, check.Must[*ast.File](t)(parser.ParseFile(fset, path, nil, parser.ParseComments)))
		}
	}
	return check.Must[*doc.Package](t)(doc.NewFromFiles(fset, files, path.Join("tmuxmcp/tmux", dir)))
}

// The links in the package comment must exist: others would keep their brackets.
func TestLinksOfThePackageComment(t *testing.T) {
	t.Parallel()
	pkg := packageDoc(t, ".")
	link := regexp.MustCompile(`\[\*?[A-Z][A-Za-z.]*\]`)
	if n := len(link.FindAllString(pkg.Doc, -1)); n < 60 {
		t.Errorf("found only %d links", n)
	}
	for _, broken := range link.FindAllString(string(pkg.Text(pkg.Doc)), -1) {
		t.Errorf("%s does not exist", broken)
	}
	for _, m := range regexp.MustCompile(`\[tmuxmcp/tmux/(\w+)\.(\w+)\]`).FindAllStringSubmatch(pkg.Doc, -1) {
		of := packageDoc(t, m[1])
		check.That(t, slices.ContainsFunc(allFuncs(of), func(f *doc.Func) bool { return f.Name == m[2] }), "%s does not exist", m[0])
	}
}

// allFuncs returns a package's functions, those that go with a type too.
func allFuncs(pkg *doc.Package) []*doc.Func {
	all := pkg.Funcs
	for _, typ := range pkg.Types {
		all = append(all, typ.Funcs...)
	}
	return all
}

// The list of command structs is complete.
func TestEveryCommandStructIsListed(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{"Raw": true, "Require": true} // any, and a way to use show-options
	for _, c := range tmux.Commands {
		listed[reflect.TypeOf(c).Name()] = true
	}
	for _, typ := range packageDoc(t, ".").Types {
		if slices.ContainsFunc(typ.Methods, func(f *doc.Func) bool { return f.Name == "commandName" }) && !listed[typ.Name] {
			t.Errorf("%s is not in the list of commands", typ.Name)
		}
	}
}

// withContext returns the exported functions and methods, such as Server.Do, whose first
// parameter is a context.
func withContext(t testing.TB) (names []string) {
	for dir, prefix := range map[string]string{".": "", "follow": "follow."} {
		pkg := packageDoc(t, dir)
		funcs := pkg.Funcs
		for _, typ := range pkg.Types {
			funcs = append(append(funcs, typ.Funcs...), typ.Methods...)
		}
		for _, f := range funcs {
			params := f.Decl.Type.Params.List
			if len(params) == 0 || types.ExprString(params[0].Type) != "context.Context" || f.Name == "WithNotices" || f.Name == "WithTimeout" { // which calls nothing
				continue
			}
			name := prefix
			if f.Recv != "" {
				name += strings.TrimPrefix(f.Recv, "*") + "."
			}
			names = append(names, name+f.Name)
		}
	}
	return names
}

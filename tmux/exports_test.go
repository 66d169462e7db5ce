package tmux_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Every exported function and method of the package is called by the programs
// of this module or shown by an example, so that none is there for nothing. And
// what the package comment links to exists.
func TestExportsAreUsed(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	exported := map[string]string{} // names as godoc has them → bare names
	links := map[string]bool{}
	used := map[string]bool{}
	var doc string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") && path != "../tmux/example_test.go" {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		own := filepath.Dir(path) == "../tmux" && !strings.HasSuffix(path, "_test.go")
		declared := map[*ast.Ident]bool{}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				declared[f.Name] = true
				if own && f.Name.IsExported() {
					exported[nameOf(f)] = f.Name.Name
					links[nameOf(f)] = true
				}
			}
			if g, ok := decl.(*ast.GenDecl); ok && own {
				for _, s := range g.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						links[s.Name.Name] = true
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, f := range st.Fields.List {
								for _, n := range f.Names {
									links[s.Name.Name+"."+n.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							links[n.Name] = true
						}
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !declared[id] {
				used[id.Name] = true
			}
			return true
		})
		if path == "../tmux/doc.go" {
			doc = file.Doc.Text()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, bare := range exported {
		if strings.HasSuffix(name, ".CommandName") || strings.HasSuffix(name, ".TargetSpec") || strings.HasSuffix(name, ".String") || strings.HasSuffix(name, ".Error") || strings.HasSuffix(name, ".Is") || strings.HasSuffix(name, ".Unwrap") {
			continue // of an interface
		}
		if !used[bare] {
			t.Errorf("%s has neither a caller nor an example", name)
		}
	}
	parsed := (&comment.Parser{LookupSym: func(recv, name string) bool { return true }}).Parse(doc)
	seen := 0
	walk := func(texts []comment.Text) {
		for _, x := range texts {
			if l, ok := x.(*comment.DocLink); ok && l.ImportPath == "" {
				name := strings.TrimPrefix(l.Recv+"."+l.Name, ".")
				if seen++; !links[name] {
					t.Errorf("the package comment links to %s, which does not exist", name)
				}
			}
		}
	}
	for _, block := range parsed.Content {
		switch b := block.(type) {
		case *comment.Paragraph:
			walk(b.Text)
		case *comment.List:
			for _, item := range b.Items {
				for _, c := range item.Content {
					if p, ok := c.(*comment.Paragraph); ok {
						walk(p.Text)
					}
				}
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d links in the package comment", seen)
	}
}

// nameOf is a function's name as godoc has it: Server.Do.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	recv := f.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	return recv.(*ast.Ident).Name + "." + f.Name.Name
}

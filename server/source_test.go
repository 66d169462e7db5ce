package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOnlyTypedCommands: quoting, literal text and version gates are package
// tmux's, so no file of this package may go around them with a raw command.
func TestOnlyTypedCommands(t *testing.T) {
	t.Parallel()
	eachFile(t, func(fset *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if ok && (pkg.Name == "tmux" && sel.Sel.Name == "Raw" || pkg.Name == "exec" && strings.HasPrefix(sel.Sel.Name, "Command")) {
				t.Errorf("%s uses %s.%s", fset.Position(n.Pos()), pkg.Name, sel.Sel.Name)
			}
			return true
		})
	})
}

// eachFile parses the files of this package and of the rooms below it that calls go
// through, without tests.
func eachFile(t *testing.T, look func(*token.FileSet, *ast.File)) {
	t.Helper()
	files := 0
	for _, dir := range []string{".", "params", "runner", "stdio"} {
		names, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no files: %v", dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files++
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			look(fset, f)
		}
	}
	if files < 20 {
		t.Errorf("only %d files were looked at", files)
	}
}

// TestTypingIsGuarded: whatever types or pastes into a pane is made inside the
// function that typeInto runs after, and only if, the pane takes it.
func TestTypingIsGuarded(t *testing.T) {
	t.Parallel()
	makers := []string{"Typing", "Pasting", "SendText", "SendLine", "SendKeys", "Paste", "typing"}
	literals := []string{"SendKeys", "SendPrefix", "PasteBuffer"}
	// What makes the commands for such a function; calls of it are checked.
	helpers := []string{"typing"}
	typing := 0
	eachFile(t, func(fset *token.FileSet, f *ast.File) {
		var guarded []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "typeInto" || sel.Sel.Name == "typeIntoMade") {
					for _, arg := range n.Args {
						if lit, ok := arg.(*ast.FuncLit); ok {
							guarded = append(guarded, lit)
						}
					}
				}
			case *ast.FuncDecl:
				if slices.Contains(helpers, n.Name.Name) {
					guarded = append(guarded, n)
				}
			}
			return true
		})
		check := func(n ast.Node, what string) {
			typing++
			if !slices.ContainsFunc(guarded, func(g ast.Node) bool { return g.Pos() <= n.Pos() && n.End() <= g.End() }) {
				t.Errorf("%s: %s outside of the function for typeInto", fset.Position(n.Pos()), what)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(makers, sel.Sel.Name) {
					check(n, sel.Sel.Name)
				}
			case *ast.CompositeLit:
				sel, ok := n.Type.(*ast.SelectorExpr)
				if ok && slices.Contains(literals, sel.Sel.Name) && !typesNothing(n) {
					check(n, sel.Sel.Name)
				}
			}
			return true
		})
	})
	if typing < 8 {
		t.Errorf("only %d places type", typing)
	}
}

// typesNothing reports whether a literal of SendKeys is a reset, or a command of copy
// mode.
func typesNothing(lit *ast.CompositeLit) bool {
	keys := false
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		switch name := kv.Key.(*ast.Ident).Name; name {
		case "Command":
			return true
		case "Keys":
			keys = true
		}
	}
	return !keys
}

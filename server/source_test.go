package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/server/internal/tool"
)

// eachNode visits the source of this package and of the packages below it that calls go
// through, without tests. stack is what a node is in.
func eachNode(t *testing.T, visit func(at token.Position, n ast.Node, stack []ast.Node)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "cli": // the command line, which runs programs
			return fs.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			return err
		}
		ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
			visit(fset.Position(n.Pos()), n, stack)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were looked at", files)
	}
}

// selected returns the two words of an expression such as tmux.Raw; the first is empty if
// it is not a plain word.
func selected(n ast.Node) (on, name string) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		on = x.Name
	}
	return on, sel.Sel.Name
}

// TestOnlyTypedCommands: quoting, literal text and version gates belong to package tmux, so
// no file of this package may bypass them with a raw command.
func TestOnlyTypedCommands(t *testing.T) {
	t.Parallel()
	eachNode(t, func(at token.Position, n ast.Node, _ []ast.Node) {
		// watch runs a command of the user's.
		runs := strings.Contains(at.Filename, "internal/watch/")
		if on, name := selected(n); on == "tmux" && name == "Raw" || on == "exec" && strings.HasPrefix(name, "Command") && !runs {
			t.Errorf("%s uses %s.%s", at, on, name)
		}
	})
}

// TestTypingIsGuarded: everything that types or pastes into a pane is made inside the
// function that a Typist runs after, and only if, the pane takes it. What a shell types in
// its place goes through a Typist too.
func TestTypingIsGuarded(t *testing.T) {
	t.Parallel()
	makers := []string{"Typing", "Pasting", "SendText", "SendLine", "SendKeys", "Paste", "keyCommands"}
	literals := []string{"SendKeys", "SendPrefix", "PasteBuffer"}
	typing := 0
	eachNode(t, func(at token.Position, n ast.Node, stack []ast.Node) {
		var what string
		switch n := n.(type) {
		case *ast.CallExpr:
			if _, name := selected(n.Fun); slices.Contains(makers, name) {
				what = name
			}
		case *ast.CompositeLit:
			on, name := selected(n.Type)
			if slices.Contains(literals, name) && !typesNothing(n) {
				what = name
			}
			if has := keysOf(n); on == "shell" && name == "Options" && slices.Contains(has, "History") {
				typing++
				if !slices.Contains(has, "Type") {
					t.Errorf("%s: a shell types without a Typist", at)
				}
			} else if on == "prompt" && name == "Shell" {
				typing++
				if !slices.Contains(has, "Type") {
					t.Errorf("%s: a prompt is typed at without a Typist", at)
				}
			}
		}
		if what == "" {
			return
		}
		typing++
		for i, outer := range stack {
			if f, ok := outer.(*ast.FuncDecl); ok && slices.Contains([]string{"keyCommands", "Pasting"}, f.Name.Name) && strings.Contains(at.Filename, "internal/typing/") {
				return // makes the commands for such a function; calls of it are checked
			}
			if call, ok := outer.(*ast.CallExpr); ok && i+1 < len(stack) {
				_, name := selected(call.Fun)
				if _, literal := stack[i+1].(*ast.FuncLit); literal && slices.Contains([]string{"Type", "typeBursts", "TypeIntoMade"}, name) {
					return
				}
			}
		}
		t.Errorf("%s: %s outside of the function for a Typist", at, what)
	})
	if typing < 8 {
		t.Errorf("only %d places type", typing)
	}
}

// keysOf returns the fields that a literal sets.
func keysOf(lit *ast.CompositeLit) (names []string) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				names = append(names, key.Name)
			}
		}
	}
	return names
}

// typesNothing reports whether a literal of SendKeys is a reset, or a command of copy
// mode.
func typesNothing(lit *ast.CompositeLit) bool {
	set := keysOf(lit)
	return len(set) == len(lit.Elts) && (slices.Contains(set, "Command") || !slices.Contains(set, "Keys"))
}

// TestOnlyTypingToolsType: a handler gets a typist only from typing.Tool, which declares what
// it may do. build_workspace types only into panes that it has made.
func TestOnlyTypingToolsType(t *testing.T) {
	t.Parallel()
	var in []string
	eachNode(t, func(at token.Position, n ast.Node, stack []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			if _, name := selected(call.Fun); name == "Typist" {
				in = append(in, stack[1].(*ast.FuncDecl).Name.Name)
			}
		}
	})
	if want := []string{"Tool", "buildWorkspace"}; !slices.Equal(slices.Sorted(slices.Values(in)), want) {
		t.Errorf("typists are made in %q, want %q", in, want)
	}
}

// TestChecksAreNotHidden: an input whose parts have a check has one itself. It would not get
// one from its parts if two of them had it, or if theirs took other arguments.
func TestChecksAreNotHidden(t *testing.T) {
	t.Parallel()
	found := 0
	for _, d := range allTools(t) {
		for _, f := range reflect.VisibleFields(d.In) {
			for name, does := range map[string]reflect.Type{
				"Check": reflect.TypeFor[interface{ Check(tool.Limits) error }](), "Waits": reflect.TypeFor[interface{ Waits() bool }](),
			} {
				if _, has := f.Type.MethodByName(name); f.Anonymous && has {
					if found++; !reflect.PointerTo(d.In).Implements(does) {
						t.Errorf("%s: %s of %s is hidden in its input", d.Name, name, f.Name)
					}
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d parts of inputs are checked", found)
	}
}

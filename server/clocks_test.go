package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wallClock are the files that may drop a time's monotonic reading, and why. All else that
// waits, or lets something grow old, compares times as time.Now returns them, so that a clock
// that is set neither lengthens nor shortens it.
var wallClock = map[string]string{
	"internal/atomicfile/atomicfile.go":        "a name",
	"internal/debian/debian.go":                "a date in a file",
	"server/internal/conversation/opencode.go": "times of another program's files",
	"server/internal/conversation/qwen.go":     "times of another program's files",
	"server/internal/supervise/answer.go":      "is shown",
	"server/internal/typing/others.go":         "seconds of tmux, compared with tmux's own",
	"tmux/clients.go":                          "seconds of tmux, compared with each other",
	"tmux/files.go":                            "a deadline that has passed",
	"tmux/internal/wire/native.go":             "a deadline that has passed",
	"tmux/internal/wire/silence.go":            "a deadline that has passed",
	"tmux/row.go":                              "seconds of tmux",
	"tmux/shell/execution.go":                  "the start of a tmux server, as its name",
}

// TestTimesKeepTheMonotonicClock finds what drops it.
func TestTimesKeepTheMonotonicClock(t *testing.T) {
	t.Parallel()
	drops := []string{"Unix", "UnixMilli", "UnixMicro", "UnixNano", "UTC", "Local"}
	found := map[string]bool{}
	for _, top := range []string{"server", "tmux", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(path string, d fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			switch {
			case err != nil:
				return err
			case d.IsDir() && (name == "internal/test" || d.Name() == "testdata"):
				return filepath.SkipDir
			case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains(drops, f.Sel.Name) && !(f.Sel.Name == "Round" && isZero(call)) {
					return true
				}
				if found[name] = true; wallClock[name] == "" {
					t.Errorf("%s: %s drops the monotonic clock", fset.Position(call.Pos()), f.Sel.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range wallClock {
		if !found[name] {
			t.Errorf("%s drops no clock any more", name)
		}
	}
}

// isZero reports whether a call's argument is 0.
func isZero(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	return ok && lit.Value == "0"
}

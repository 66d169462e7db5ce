package tmux_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

var updateReadme = flag.Bool("update-readme", false, "write the examples' code into README.md")

// readmeBlock is a Go block of README.md that is an example of this package.
var readmeBlock = regexp.MustCompile("(?s)<!-- example: (\\w+) -->\n```go\n(.*?)```\n")

// The Go code in README.md is code of examples, which are run. An example's own
// server becomes the reader's, and its printed error a returned one.
func TestReadmeShowsExamples(t *testing.T) {
	t.Parallel()
	const readme = "../README.md"
	text := must[[]byte](t)(os.ReadFile(readme))
	bodies := exampleBodies(t)
	blocks := 0
	want := readmeBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		blocks++
		name := string(readmeBlock.FindSubmatch(block)[1])
		body, ok := bodies[name]
		if !ok {
			t.Errorf("README.md shows %s, and there is no such example", name)
			return block
		}
		return []byte("<!-- example: " + name + " -->\n```go\n" + body + "```\n")
	})
	expect(t, blocks != 0, "README.md shows no example")
	if *updateReadme {
		ok(t, os.WriteFile(readme, want, 0o644))
		return
	}
	equal(t, "README.md differs from the examples; run go test ./tmux -run Readme -update-readme\n", string(want), string(text))
}

// exampleBodies are the statements of the examples, as the README shows them.
func exampleBodies(t *testing.T) map[string]string {
	t.Helper()
	source := must[[]byte](t)(os.ReadFile("example_test.go"))
	fset := token.NewFileSet()
	file := must[*ast.File](t)(parser.ParseFile(fset, "example_test.go", source, 0))
	bodies := map[string]string{}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		body := string(source[fset.Position(f.Body.Lbrace).Offset+2 : fset.Position(f.Body.Rbrace).Offset])
		body, _, _ = strings.Cut(body, "\t// Output:")
		body = strings.TrimPrefix(strings.ReplaceAll("\n"+body, "\n\t", "\n"), "\n")
		bodies[f.Name.Name] = strings.NewReplacer(
			"srv, done := throwaway()\n", "srv, err := tmux.New(tmux.Config{})\nif err != nil {\n\treturn err\n}\n",
			"defer done()\n", "",
			"\tfmt.Println(err)\n\treturn\n", "\treturn err\n",
		).Replace(body)
	}
	return bodies
}
